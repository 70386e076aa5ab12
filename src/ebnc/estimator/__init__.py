"""The scikit-learn interface; the computations are in other packages."""
