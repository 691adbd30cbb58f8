"""Weights of Hugging Face in our models, and ours in theirs: one file of tables for each architecture.

A table names every weight on both sides and the layout that turns one into the other; nothing else is known about a
model. ``folders`` reads and writes, ``convert`` follows the tables.
"""

from clearformer.pretrained.folders import from_pretrained, save_pretrained

__all__ = ["from_pretrained", "save_pretrained"]
