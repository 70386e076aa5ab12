"""Models as code for other programs: what to compute (``scorecard``), and one writer a language."""
