"""Solution in, one log number out (§5)."""
