"""The memory of ParetoZoom."""

from __future__ import annotations

from typing import Any

from paretozoom.kernels.core.jit import Floats, Ints, inlined
from paretozoom.kernels.core.memory import Memory, lend_rows

MOST_LEVELS = 24  # room of arrays; cells are more than rewards before
MOST_DEPTH = 24  # bits of a coordinate: room of arrays
MOST_POWER = 62  # of scales and signals: beyond, powers of 2 overflow; what is expected of them keeps them far below
MEMBERS = 4  # of the committee
LEVELS_, TREND_, SMOOTH_, FORMS_ = range(MEMBERS)
COUNT_, TOTAL_, SQUARE_, MEAN_, ERROR_ = range(5)  # of a cell: its rewards; estimate and standard error
STATISTICS = 5

memory = Memory()
_size, _floats, _ints = memory.size, memory.floats, memory.ints

# Of the problem.
CONTEXT = _size("context")  # coordinates of contexts
DIM = _size("dim")  # of contexts and arms
ARM_DIM = _size("arm_dim")
OBJECTIVES = _size("objectives")
ARMS = _size("arms")  # finite ones; 0 on a continuum
FINER = _size("finer")  # coordinates that arms are split by: their own, or features and number of a finite arm
COORDINATES = _size("coordinates")  # of contexts, and FINER
KEY0 = _size("key0")
KEY1 = _size("key1")
ALONG_FRONT = _size("along_front")  # 1: play evenly along the front in the space of objectives
PREFERS = _size("prefers")  # 1: the arm of the largest weighted sum of rewards is played, not the front
CANDIDATES = _size("candidates")  # at most
ARE_LABELS = _size("are_labels")  # 1: arms are labels and nothing else
CELLS = _size("boxes")  # that make up a continuum of arms
PER_CELL = _size("per_box")  # candidates in each at most
BOX = _size("box")  # entries of a box: lows, then highs
# Of what was learned.
TOLD = _size("told", learned=True)  # whole rewards that all parts add up to
PARTS = _size("parts", learned=True)  # that were told since TOLD last grew
NEXT = _size("next", learned=True)  # rewards at which a refit is due
DUE = _size("due", learned=True)  # rewards at which estimates of all cells are corrected
SEARCHED = _size("searched", learned=True)  # rewards when length scales were last sought
FORGETS = _size("forgets", learned=True)  # 1: the next refit forgets half
FORGOTTEN = _size("forgotten", learned=True)  # how often
SITES = _size("sites", learned=True)
SITE_ROOM = memory.room("site_room", "sites")
SITE_SLOTS = _size("site_slots")
LEVELS = _size("levels", learned=True)
BLOCKS = _size("blocks", learned=True)
BLOCK_ROOM = memory.room("block_room", "blocks")
BLOCK_SLOTS = _size("block_slots")
USED = _size("used", learned=True)  # entries of cells
CELL_ROOM = memory.room("cell_room", "used")
MOST_LEVELS_ = memory.room("most_levels", "levels")
NUMBERED = _size("numbered", learned=True)  # cells of arms of all levels together
MOST_CELLS = _size("most_cells")  # of arms, of a level
# Of functions and terms.
FUNCTIONS = _size("functions")
RAW_FUNCTIONS = _size("raw_functions")  # of coordinates of contexts, the constant included; those of axes follow
CONTEXT_FUNCTIONS = _size("context_functions")  # both together
ARM_FUNCTIONS = _size("arm_functions")
TREND_TERMS = _size("trend_terms", learned=True)  # 0: retired
TREND_FITTED = _size("trend_fitted", learned=True)  # rewards when the trend was last fitted
TREND_ROOM = memory.room("trend_room", "trend_terms")
TREND_SUMS = _size("trend_sums")  # terms that sums are kept of, even if the trend is not fitted yet, or retired
SMOOTH_TERMS = _size("smooth_terms", learned=True)  # 0: not fitted yet, or retired
SMOOTH_ROOM = memory.room("smooth_room", "smooth_terms")
SMOOTH_SUMS = _size("smooth_sums")  # as many if there are axes, else 0: then sums are made of sites
FORMS = _size("forms")  # finite arms that have linear forms of the context: all of them, or none
FORM_BLOCKS = _size("form_blocks")  # one for each objective and arm
FORM_TERMS = _size("form_terms")  # of such a form
# Of directions: sums of simple functions of contexts.
SIMPLE = _size("simple")  # functions of contexts
SIMPLE_OF_ARMS = _size("simple_of_arms")
WIDE = _size("wide_functions")  # as many as SIMPLE if they are too many to be terms of forms, else 0
AXES = _size("axes")  # directions that smooth estimates have as further coordinates
SCALES = _size("scales")  # coordinates and axes
FOUND = _size("found", learned=True)  # rewards when directions were last sought
PAST = _size("past", learned=True)  # rewards that are kept to find directions
PAST_ROOM = memory.room("past_room", "past")
FORM_FITTED = _size("form_fitted", learned=True)  # rewards when variances of forms were last sought
# Constants, as sizes of parts.
for _name in ("settings", "members", "places", "corners", "most_blocks", "two", "three", "four", "levels_row"):
    _size(_name)

_floats("settings", "settings", holds="given")
kinds = _ints("kinds", "dim", holds="given")
values = _ints("values", "dim", holds="given")  # 0 if continuous, m if m equally spaced values, -m if m labels
bits = _ints("bits", "coordinates", holds="given")  # into how many bits a coordinate is read
weights = _floats("weight", "objectives", holds="given")  # of scaled rewards, where weights are preferred
boxes = _floats("box", "boxes", "box", holds="given")
features = _floats("feature", "arms", "arm_dim", holds="given")
functions = _ints("function", "functions", "two", holds="given")  # its coordinate, and which of its functions
trend_factors = _ints("trend_factor", "trend_room", "three", holds="given")  # the functions a term is a product of

# What was told: sites are points read in all bits.
offset = _floats(
    "offset", "objectives", may_lack=True, least=-1e125, most=1e125
)  # the first reward, which is subtracted from all; NaN before
unbounded = _ints("unbounded", "objectives", holds="given")  # 1: rewards may be anything
usual = _floats("usual", "objectives", "three", least=0)  # how far rewards are from what is predicted: see `outliers`
site_key = _ints("site_key", "site_room", least=0)
site_count = _ints("site_count", "objectives", "site_room", least=0)
site_total = _floats("site_total", "objectives", "site_room")
site_square = _floats("site_square", "objectives", "site_room", least=0)
site_slot = _ints("site_slot", "site_slots", holds="derived")  # 1 + the number of a site, by its key

# Levels: blocks of cells of arms above cells of contexts.
noise = _floats("noise", "objectives", least=1e-300)  # the variance of a reward
roughness = _floats("roughness", "most_levels", "objectives", least=0)  # the variance of what a level adds
inner = _ints(
    "inner", "most_levels", least=-1, most="coordinates"
)  # the coordinate of arms of which a level has one bit more, or -1
outer = _ints(
    "outer", "most_levels", least=-1, most="context"
)  # the coordinate of contexts of which it has one bit more, or -1
depth = _ints("depth", "most_levels", "coordinates", least=0, most=MOST_DEPTH)  # bits of each coordinate
arm_cells = _ints("arm_cells", "most_levels", least=0)
cell_of_arm = _ints("cell_of_arm", "most_levels", "arms", holds="derived")
first_number = _ints(
    "first_number", "most_levels", holds="derived"
)  # where the cells of a level begin in `parent` and `beside`
parent = _ints("parent", "numbered", holds="derived")  # the cell of the level before that a cell of arms is in
beside = _ints("beside", "numbered", holds="derived")  # the cell next to that, on the side of the cell
block_key = _ints("block_key", "block_room", holds="derived")
block_level = _ints("block_level", "block_room", least=0, most="levels")
block_start = _ints("block_start", "block_room", holds="derived")  # in `cells`
block_site = _ints("block_site", "block_room", least=0, most="sites")  # one of the sites in it
block_told = _ints("block_told", "block_room", least=1)
block_due = _ints("block_due", "block_room", least=1)  # rewards at which its estimates are corrected
block_slot = _ints("block_slot", "block_slots", holds="derived")
cells = _floats("cells", "cell_room")  # (objectives, STATISTICS, cells of arms) of each block

# Trend and smooth estimate: mean and covariance, relative to the noise, of how much there is of each term.
trend = _floats("trend", "objectives", "trend_room", least=-1e140, most=1e140)
trend_covariance = _floats("trend_covariance", "objectives", "trend_room", "trend_room", least=-1e140, most=1e140)
trend_gram = _floats("trend_gram", "objectives", "trend_sums", "trend_sums")  # sums of products of terms, r <= c
trend_right = _floats("trend_right", "objectives", "trend_sums")  # sums of terms times rewards
trend_square = _floats("trend_square", "objectives", least=0)  # the sum of squared rewards
trend_size = _ints("trend_size", "objectives", least=-60, most=60)  # of terms, as a power of 2
smooth = _floats("smooth", "objectives", "smooth_room", least=-1e140, most=1e140)
smooth_covariance = _floats("smooth_covariance", "objectives", "smooth_room", "smooth_room", least=-1e140, most=1e140)
smooth_factors = _ints("smooth_factor", "smooth_room", "three", least=0, most="functions")
smooth_gram = _floats("smooth_gram", "objectives", "smooth_sums", "smooth_sums")  # of all rewards, as of the trend
smooth_right = _floats("smooth_right", "objectives", "smooth_sums")
smooth_square = _floats("smooth_square", "objectives", least=0)
scale = _ints("scale", "objectives", "scales", least=0, most=MOST_POWER)  # length scales, as steps of root 2
signal = _ints(
    "signal", "objectives", least=-MOST_POWER, most=MOST_POWER
)  # variance of all terms together, as a power of 2

# Forms: of each arm the sums of c c' and c r, and what is known of its form given what all have in common; of that too.
simple = _ints("simple_function", "simple", holds="given")  # which of all functions they are
simple_of_arms = _ints("simple_of_arm", "simple_of_arms", holds="given")
past_point = _floats("past_point", "past_room", "dim", least=-1, most=1e9)
axis = _floats("axis", "axes", "simple", least=-1e140, most=1e140)  # how much of each is in it
direction = _floats("direction", "form_terms", "wide_functions")  # of which c holds such sums, if they are too many
past_reward = _floats("past_reward", "past_room", "objectives")  # 0 where nothing was told
past_told = _ints("past_told", "past_room", "objectives", least=0, most=2)
past_arm = _ints("past_arm", "past_room", least=-1, most="arms")
form_gram = _floats("form_gram", "form_blocks", "form_terms", "form_terms")
form_right = _floats("form_right", "objectives", "forms", "form_terms")
form_inverse = _floats("form_inverse", "form_blocks", "form_terms", "form_terms", least=-1e40, most=1e40)
form_common = _floats("form_common", "objectives", "form_terms")
form_common_right = _floats("form_common_right", "objectives", "form_terms")
form_common_inverse = _floats("form_common_inverse", "objectives", "form_terms", "form_terms", least=-1e40, most=1e40)
form_square = _floats("form_square", "objectives", least=0)  # the sum of squared rewards
form_size = _ints("form_size", "objectives", "two", least=-60, most=60)  # variances of w and of u, as powers of 4
form_noise = _floats("form_noise", "objectives", least=1e-300)

# Committee.
products = _floats("products", "objectives", "members", "members")  # of errors of predictions, relative to the noise
compared = _floats("compared", "objectives", least=0)  # over how many rewards
levels_variance = _floats(
    "levels_variance", "objectives", least=0
)  # squared standard errors of levels, summed over these
explained = _floats("explained", "objectives", least=0)  # variance of rewards beyond the noise, relative to it
share = _floats("share", "objectives", "members", least=0, most=1.0000001)

# Drift.
watched = _floats("watched", "four")  # pairs, products of residuals, their squares, and what products should be
last = _floats("last", "places", "objectives")  # the last residual at a place; 0 if there was none

# Scratch: nothing outlives the call that wrote it.
arms = _floats("arm", "candidates", "arm_dim", holds="scratch")
_mean = _floats("mean", "objectives", "candidates", holds="scratch")
_error = _floats("error", "objectives", "candidates", holds="scratch")
member_mean = _floats("member_mean", "candidates", holds="scratch")
term = _floats("term", "trend_room", holds="scratch")  # of the trend, at one place
term_gain = _floats("term_gain", "trend_room", holds="scratch")
member_square = _floats("member_square", "candidates", holds="scratch")
raw = _floats("raw", "simple", holds="scratch")  # simple functions where they stand
along = _floats("along", "axes", holds="scratch")  # axes there
form_here = _floats("form_here", "form_terms", holds="scratch")  # c
form_seen = _floats("form_seen", "form_terms", holds="scratch")
form_apart = _floats("form_apart", "form_terms", holds="scratch")  # precisions beforehand of an arm's own terms
form_moved = _floats("form_moved", "form_terms", holds="scratch")
value = _floats("value", "functions", holds="scratch")  # at one place
row_value = _floats("row_value", "arm_functions", "candidates", holds="scratch")
corner_weight = _floats("corner_weight", "corners", holds="scratch")
mixed_mean = _floats("mixed_mean", "most_cells", holds="scratch")
mixed_error = _floats("mixed_error", "most_cells", holds="scratch")
block_weight = _floats("block_weight", "most_blocks", holds="scratch")  # of the blocks around a context
block_corner = _ints("block_corner", "most_blocks", holds="scratch")
rest = _floats("rest", "objectives", holds="scratch")  # a reward less the first one
residual = _floats("residual", "objectives", holds="scratch")
variance = _floats("variance", "objectives", holds="scratch")
digits = _ints("digits", "coordinates", holds="scratch")
off = _floats("off", "members", holds="scratch")
corner = _ints("corner", "corners", holds="scratch")
listed = _ints("listed", "candidates", holds="scratch")  # the numbers of finite arms
label_error = _floats("label_error", "objectives", "candidates", holds="scratch")  # of forms, if arms are labels
front = _ints("front", "two", "candidates", holds="scratch")  # marks of those that are played; spare
unit = _floats("unit", "objectives", holds="scratch")
end = _floats("end", "objectives", holds="scratch")


@inlined
def mean(f: Floats, i: Ints, rows: int) -> Any:
    """The means of so many rows: (objectives, rows)."""
    return lend_rows(_mean(f, i), 0, i[OBJECTIVES], rows)


@inlined
def error(f: Floats, i: Ints, rows: int) -> Any:
    """The standard errors of so many rows: (objectives, rows)."""
    return lend_rows(_error(f, i), 0, i[OBJECTIVES], rows)


TABLE = memory.table()
BLOCKS_TABLE = memory.table(without=[part.name for part in memory.parts if part.name.startswith(("block_", "cells"))])
HEADER = memory.header
