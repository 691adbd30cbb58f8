"""Questions, checks, comparisons, and the known mistake that a result equals."""
