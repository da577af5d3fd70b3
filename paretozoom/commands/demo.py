"""The service beside a simulated client, to see it live."""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from pathlib import Path

from paretozoom.environments import PaperTask
from paretozoom.remote.client import Client
from paretozoom.service.running import log_in_json
from paretozoom.store import open_store

log = logging.getLogger("paretozoom")
NAME = "paper"


def demo(port: int, rate: float, rounds: int | None) -> None:
    """Serve from a temporary folder while a client plays the paper's task; ends with Ctrl-C, or after some rounds."""
    import uvicorn

    from paretozoom.service.app import create_app

    log_in_json()
    with tempfile.TemporaryDirectory() as folder:
        config = uvicorn.Config(
            create_app(open_store(Path(folder))), port=port, access_log=False, log_config=None, server_header=False
        )
        server = uvicorn.Server(config)

        def client() -> None:
            while not server.started and not server.should_exit:
                time.sleep(0.05)
            here = server.servers[0].sockets[0].getsockname()[1]
            try:
                play(f"http://127.0.0.1:{here}", rate, rounds, server)
            finally:
                server.should_exit = True

        player = threading.Thread(target=client, daemon=True)
        player.start()
        server.run()
        player.join(timeout=5)


def play(url: str, rate: float, rounds: int | None, server: object) -> None:
    """Be the client: observe, ask, respond, tell."""
    task = PaperTask()
    task.reset(0)
    with Client(url) as service:
        experiment = service.create(NAME, task.problem)
        log.info("compiling kernels: a minute on first use")
        service.wait_until_ready(timeout=600)
        log.info("look", extra={"front": f"{url}/v1/experiments/{NAME}/front?context=[0.5]", "docs": f"{url}/docs"})
        begun = time.monotonic()
        count = 0
        while (rounds is None or count < rounds) and not getattr(server, "should_exit", False):
            decision = experiment.ask(task.observe())
            experiment.tell(decision, task.respond(decision))
            count += 1
            if count % max(1, int(10 * rate)) == 0:
                log.info("rounds played", extra={"rounds": count})
            time.sleep(max(0.0, begun + count / rate - time.monotonic()))
