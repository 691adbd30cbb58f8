"""The exercises of one learner, graded and summed up: as a table, as JSON, as a page to keep."""
