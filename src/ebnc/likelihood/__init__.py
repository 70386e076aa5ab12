"""Priors, and value, gradient and Hessian of the log posterior of one local model."""
