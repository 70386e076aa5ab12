"""The scikit-learn face: arranges, never computes."""
