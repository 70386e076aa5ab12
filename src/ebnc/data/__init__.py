"""Tables in, coded configurations out."""
