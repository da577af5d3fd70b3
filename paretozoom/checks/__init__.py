"""The contracts of policies, environments and metrics, for any class."""

from paretozoom.checks.environments import check_environment
from paretozoom.checks.expecting import CheckFailed, expect
from paretozoom.checks.metrics import check_metric
from paretozoom.checks.policies import PROBLEMS, check_policy

__all__ = ["PROBLEMS", "CheckFailed", "check_environment", "check_metric", "check_policy", "expect"]
