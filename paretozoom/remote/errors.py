"""What the clients raise: one family, `ServiceError`."""

from __future__ import annotations

from paretozoom.records import Refused


class ServiceError(RuntimeError):
    """The service did not do what it was asked to: its status (0 if there was no answer) and its reason.

    Whatever a client raises is one. `RequestRefused` and `NoAnswer` are the two kinds that callers may tell apart.

    >>> ServiceError(404, "decision 7: there is no such decision").status
    404
    """

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}" if status else detail)
        self.status = status
        self.detail = detail


class RequestRefused(ServiceError, Refused):
    """The request says what cannot be: it names the field, the value and what was expected. Also a `Refused`.

    >>> isinstance(RequestRefused("context['x']: 2.0 is outside [0, 1]"), Refused)
    True
    """

    def __init__(self, detail: str) -> None:
        super().__init__(400, detail)


class NoAnswer(ServiceError):
    """The service could not be reached, or took too long; nobody knows whether it did what it was asked to.

    >>> NoAnswer("no answer within 30 s").status
    0
    """

    def __init__(self, detail: str) -> None:
        super().__init__(0, detail)
