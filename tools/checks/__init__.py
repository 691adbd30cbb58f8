"""What a change has to pass beside the tests: sizes (make lint), broken lines (make mutants), notes of a release."""
