"""What the notebooks of the book import besides the library: figures, drills, data, settings."""
