"""A page on this machine, on which a person gives points and remarks for what the grader does not judge."""
