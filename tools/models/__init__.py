"""The trainings of the models that are shipped in models/: make models."""
