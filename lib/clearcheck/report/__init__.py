"""One notebook graded, and all exercises of one learner summed up: as a table, as JSON, as a page to keep."""
