"""The site built, printed and served: make book, make pdf and make serve."""
