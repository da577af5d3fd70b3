"""Numbers that name things to the kernels; apart from them so that reading these costs no compiler."""

# how two encoded coordinates are compared
LINEAR, PERIODIC, CATEGORICAL = range(3)

# how the gaps of coordinates make a distance, or what gives it instead
NORM_ONE, NORM_TWO, NORM_MAX, MATRIX, FUNCTION = range(5)

# how domains are found: exact slices of one continuous arm, an enumeration of arms, or candidates drawn anew
SLICES, FINITE, LATTICE = range(3)

MOST_CANDIDATES = 2048  # arms that stand in for all others in one round
MOST_PER_CELL = 512
MOST_INTERVALS = 64  # of a feasible set of one continuous arm
