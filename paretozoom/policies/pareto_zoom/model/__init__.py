"""ParetoZoom in NumPy: the definition of the algorithm, dense and slow. Kernels agree with it to rounding.

    x, y, z         a context, an arm, and both together, encoded; coordinate j of z is in [0, 1], or a label
    r               a reward, less the first one of all; of objective o
    n, S, Q         how many rewards there are somewhere, their sum, the sum of their squares
    sigma2          the noise: the variance of a reward around its mean
    tau             the roughness of a level: the variance of what it adds to the level before
    m, e            an estimate of a mean reward, and its standard error
    phi             terms at a point: products of functions of single coordinates
    w, C, v         how much there is of each term: mean; covariance and variance beforehand, both relative to sigma2
    s               shares of the committee: levels, trend, smooth estimate
    P               products of the members' errors, relative to sigma2, summed over rewards

Read `model.py` first: what happens when, the committee, the choice of candidates, drift. Then `levels.py` and
`splits.py`, and `fixed.py` for trend and smooth estimate. `sites.py` is all that is known of the past, `space.py` how
contexts and arms are read. What each setting is for stands beside it, in the `settings.py` of the kernels.

>>> import numpy as np
>>> from paretozoom import Objective, ParetoZoom, Problem, Real
>>> task = Problem(context=[], arm=[Real("y")], objectives=[Objective("a"), Objective("b")])
>>> model = Model(task, ParetoZoom(task).settings)
>>> for y in (0.1, 0.3, 0.5, 0.7, 0.9) * 8:
...     model.tell(np.array([y]), -1, np.array([1 - abs(y - 0.3), 1 - abs(y - 0.5)]))
>>> arms = np.linspace(0, 1, 11)[:, None]
>>> means, errors = model.predict(np.zeros(0), arms, np.full(11, -1))
>>> indices = model.indices(np.zeros(0), np.full(11, -1), means, errors)
>>> arms[model.choose(indices, errors) == 1].ravel().round(1).tolist()
[0.3, 0.4, 0.5]
"""

from paretozoom.policies.pareto_zoom.model.model import Model

__all__ = ["Model"]
