"""Examples: data that ``ebnc demo`` and the printed examples use."""
