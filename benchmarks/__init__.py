"""Speeds as ratios against a peer, both measured in one run. Not part of the package."""
