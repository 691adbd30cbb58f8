"""Short questions about shapes and costs, with answers that the library computes."""
