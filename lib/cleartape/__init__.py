"""Gradients of functions that are written with plain NumPy."""
