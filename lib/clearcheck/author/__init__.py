"""What an author of exercises writes, and how it is found."""
