"""What an execution leaves behind, and the boundary no secret crosses."""
