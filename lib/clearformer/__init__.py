"""Clearformer: the transformer, small enough to read in an evening.

Import what you need from the module that is named after the concept, for example
``from clearformer.attention import attend``. ``clearformer.reference`` holds the same ideas in
NumPy, written the way the papers print them, and needs no torch.
"""

__version__ = "0.1.0"
