"""Grading submissions: one, a class, a course."""
