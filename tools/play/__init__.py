"""What the pages to play with are computed from, a module for each: data() is what its script finds."""
