"""Reading notebooks and making the learner's from its source."""
