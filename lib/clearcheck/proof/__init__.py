"""The proof that the checks tell right from wrong."""
