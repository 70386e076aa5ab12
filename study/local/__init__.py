"""Part C: kinds of local distributions inside one network search, on samples of known networks."""
