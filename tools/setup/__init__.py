"""Which Python, the environment .venv, what is fetched into it: make setup, which every other target runs first.

Standard library only; what runs before a fitting Python is found (start, pythons) is written for Python 3.6.
"""
