"""Clearclass: a class's submissions graded by clearcheck, side by side, into tables and pages."""
