"""The service from afar, with the verbs of a policy (extra "client")."""

from paretozoom.remote.async_client import AsyncClient
from paretozoom.remote.client import Client, ServiceError

__all__ = ["AsyncClient", "Client", "ServiceError"]
