"""Maximise posteriors and likelihoods. (``fit`` is the name of a public function.)"""
