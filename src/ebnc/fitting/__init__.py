"""Objective in, Solution out. (Not called ``fit``: that is the name of a public function.)"""
