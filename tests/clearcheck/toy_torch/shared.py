"""What the questions of the toy exercise use."""

SECONDS = 5.0  # of one call: short, since some tests loop for ever
