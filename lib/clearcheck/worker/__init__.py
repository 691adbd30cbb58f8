"""The process that runs a learner's code. What it stops and what it does not is told in `limits`."""
