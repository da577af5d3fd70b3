"""What kernels of all families are made of."""
