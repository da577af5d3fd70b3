"""The service from afar, with the verbs of a policy (extra "client")."""

from paretozoom.remote.async_client import AsyncClient
from paretozoom.remote.client import Client
from paretozoom.remote.errors import NoAnswer, RequestRefused, ServiceError
from paretozoom.remote.wire import LocalDecision

__all__ = ["AsyncClient", "Client", "LocalDecision", "NoAnswer", "RequestRefused", "ServiceError"]
