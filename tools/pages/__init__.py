"""Pages that are written by programs, and what they read from the others: make pages and make notebooks."""
