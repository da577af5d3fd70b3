"""What rounds say of a problem: rewards that few make, contexts that carry nothing, coordinates that matter."""

from paretozoom.findings.finding import Finding
from paretozoom.findings.look import Look, look_at, look_at_rounds

__all__ = ["Finding", "Look", "look_at", "look_at_rounds"]
