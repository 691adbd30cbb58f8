"""What the pages to play with are computed from, for make book.

A module for each page: its data() is what the page's script finds.
"""
