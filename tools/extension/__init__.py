"""The extension of Sphinx that the book is built with, a module for each thing that it adds: a part of make book.

_config.yml names hooks, which connects the others.
"""
