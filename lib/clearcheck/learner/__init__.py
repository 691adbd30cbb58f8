"""What a learner sees: cards, the progress file, a cell as it was, functions from earlier exercises."""
