"""What systemd is told: that the service has begun, is awake, and ends."""

from __future__ import annotations

import asyncio
import os
import socket


def notify(what: str) -> bool:
    """Tell systemd something; whether it wants to know.

    >>> notify("READY=1")
    False
    """
    place = os.environ.get("NOTIFY_SOCKET")
    if not place:
        return False
    address = "\0" + place[1:] if place.startswith("@") else place  # an abstract one
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
            channel.sendto(what.encode(), address)
    except OSError:
        return False
    return True


async def stay_awake() -> None:
    """Tell systemd again and again that the loop runs, if it wants to know; for ever."""
    every = int(os.environ.get("WATCHDOG_USEC", "0")) / 1e6 / 3
    while every > 0:
        notify("WATCHDOG=1")
        await asyncio.sleep(every)
