"""Promise three: what the book says of A against B has met the simplest rival, at its budget and at four times it."""
