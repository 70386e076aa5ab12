"""Value, gradient and Hessian of one local model; priors."""
