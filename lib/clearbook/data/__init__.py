"""The texts, images and pairs that the chapters learn from."""
