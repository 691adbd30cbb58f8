"""What leaves the course: downloads of the site for learners, the autograder for Gradescope (make gradescope)."""
