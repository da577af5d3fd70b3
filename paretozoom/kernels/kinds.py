"""How two encoded coordinates are compared; apart from the kernels so that reading it costs no compiler."""

LINEAR, PERIODIC, CATEGORICAL = range(3)
