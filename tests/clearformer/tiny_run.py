"""Options of ``python -m clearformer train`` for a run of a second; a later option overrides one of these."""

SIZES = {"width": 8, "layers": 1, "heads": 2, "context": 8, "batch": 2, "vocabulary": 270, "steps": 6, "device": "cpu"}
TINY = [word for name, value in SIZES.items() for word in (f"--{name}", str(value))]
