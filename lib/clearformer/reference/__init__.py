"""The equations, literally: NumPy, float64, one token per column (``D N``), one function per equation.

Nothing here is fast and nothing is hidden. The torch modules of the same names are tested against it.
"""
