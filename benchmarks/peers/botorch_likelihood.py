"""The marginal likelihood of an exact Gaussian process, with its gradient written down instead of derived.

Torch goes back through a Cholesky factor in some four cubes of the number of rows; an inverse takes two thirds of one.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from gpytorch.mlls import ExactMarginalLogLikelihood
from linear_operator.utils.cholesky import psd_safe_cholesky


class LogDensity(torch.autograd.Function):  # type: ignore[misc]
    """log N(residual; 0, covariance), for each of a batch."""

    @staticmethod
    def forward(ctx: Any, residual: Any, covariance: Any) -> Any:
        """Its values; what its gradient needs is kept."""
        factor = psd_safe_cholesky(covariance)
        weights = torch.cholesky_solve(residual[..., None], factor)
        ctx.save_for_backward(weights, torch.cholesky_inverse(factor))
        squares = (residual * weights[..., 0]).sum(-1)
        logs = factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        return -0.5 * (squares + residual.shape[-1] * math.log(2 * math.pi)) - logs

    @staticmethod
    def backward(ctx: Any, slope: Any) -> Any:
        """By the residual: -w; by the covariance C: (w w' - C^-1) / 2, where w = C^-1 residual."""
        weights, inverse = ctx.saved_tensors
        by_covariance = torch.sub(weights @ weights.mT, inverse).mul_(0.5 * slope[..., None, None])
        return -weights[..., 0] * slope[..., None], by_covariance


class MarginalLikelihood(ExactMarginalLogLikelihood):  # type: ignore[misc]
    """What `fit_gpytorch_mll` makes as large as it can: GPyTorch's own, in a third of the time."""

    def forward(self, function_dist: Any, target: Any, *params: Any, **kwargs: Any) -> Any:
        """The log density of the targets and of the hyperparameters, per row."""
        output = self.likelihood(function_dist, *params, **kwargs)
        density = LogDensity.apply(target - output.mean, output.covariance_matrix)
        return self._add_other_terms(density, params) / target.shape[-1]
