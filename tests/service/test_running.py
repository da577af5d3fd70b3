"""The service as a process: where it listens, what it logs, and the demonstration."""

from __future__ import annotations

import logging
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import pytest

from paretozoom.commands.cli import main
from paretozoom.records import Refused
from paretozoom.service.running import JsonLines, is_loopback, serve
from paretozoom.store import open_store


@pytest.mark.parametrize(
    ("host", "only_here"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False)],
)
def test_loopback_addresses(host: str, only_here: bool) -> None:
    assert is_loopback(host) is only_here


def test_without_tokens_another_address_is_refused(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with pytest.raises(Refused, match=r"host: '0.0.0.0' can be reached from elsewhere, but there are no tokens"):
        serve(store, "0.0.0.0", 0)
    store.close()


@pytest.mark.parametrize("port", [70_000, "taken"])
def test_a_port_that_cannot_be_had_is_refused(tmp_path: Path, port: int | str) -> None:
    store = open_store(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.raises(Refused, match="port: "):
        serve(store, "127.0.0.1", listener.getsockname()[1] if isinstance(port, str) else port)
    store.close()


@pytest.mark.parametrize("command", [["replay"], ["token", "list"], ["token", "revoke", "ab12"], ["backup", "copy"]])
def test_a_store_that_is_not_there_is_refused_and_not_made(
    tmp_path: Path, command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["paretozoom", *command, "--store", "mistyped"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "store: 'mistyped' has no paretozoom.db" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_log_line_is_json_with_whatever_was_added() -> None:
    record = logging.makeLogRecord({"levelname": "WARNING", "msg": "a %s", "args": ("b",), "path": Path("/x")})
    try:
        raise ValueError("oh")
    except ValueError:
        record.exc_info = sys.exc_info()
    line = msgspec.json.decode(JsonLines().format(record))
    assert line["level"] == "warning"
    assert line["message"] == "a b"
    assert line["path"] == "/x"
    assert "ValueError: oh" in line["traceback"]


SLOW = """
import sys, time
from pathlib import Path
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.running import serve
from paretozoom.store import open_store

folder, phase, seconds = sys.argv[1:]
whole = getattr(LiveExperiments, phase)

async def slowly(experiments):
    print("now", flush=True)
    await experiments.threads.read(time.sleep, float(seconds))  # as a long log is folded
    await whole(experiments)

setattr(LiveExperiments, phase, slowly)
serve(open_store(Path(folder)), "127.0.0.1", 0)
"""


@pytest.mark.parametrize(("phase", "seconds"), [("start", 300), ("stop", 1)])
def test_a_signal_ends_a_start_and_does_not_disturb_an_end(tmp_path: Path, phase: str, seconds: int) -> None:
    line = [sys.executable, "-c", SLOW, str(tmp_path), phase, str(seconds)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stderr is not None
    if phase == "stop":
        assert "serving" in process.stderr.readline()
        process.terminate()
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 0
    assert [msgspec.json.decode(line)["message"] for line in said.splitlines()] == ["ended"] * (phase == "stop")


STUCK = """
import sys, time
from pathlib import Path
from paretozoom.service import Limits
from paretozoom.service.writing import compilations
from paretozoom.service.running import serve
from paretozoom.store import open_store, sqlite

store = open_store(Path(sys.argv[1]))
compilations.compile_policy = lambda _: time.sleep(1_000 if sys.argv[2] == "compiler" else 0)
if sys.argv[2] == "store":
    sqlite.LockFile.release = lambda _: time.sleep(1_000)
serve(store, "127.0.0.1", 0, limits=Limits(seconds_to_end=3.0))
"""


@pytest.mark.parametrize(("where", "code"), [("compiler", 0), ("store", 1)])
def test_an_end_waits_for_nothing_for_ever(tmp_path: Path, where: str, code: int) -> None:
    line = [sys.executable, "-c", STUCK, str(tmp_path), where]
    process = subprocess.Popen(line, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "serving" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == code
    assert ("the end took too long" in said) == bool(code)


def test_systemd_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as short, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.bind(f"{short}/notify")
        channel.settimeout(60)
        monkeypatch.setenv("NOTIFY_SOCKET", f"{short}/notify")
        monkeypatch.setenv("WATCHDOG_USEC", "300000")
        line = [sys.executable, "-c", STUCK, str(tmp_path), "nowhere"]
        process = subprocess.Popen(line, stderr=subprocess.DEVNULL)
        said = [channel.recv(100) for _ in range(3)]
        assert said == [b"READY=1", b"WATCHDOG=1", b"WATCHDOG=1"]
        process.terminate()
        while (last := channel.recv(100)) == b"WATCHDOG=1":
            pass
        assert last == b"STOPPING=1"
        assert process.wait(60) == 0


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_the_unit_is_hardened() -> None:
    unit = Path(__file__).parents[2] / "deploy" / "paretozoom.service"
    line = ["systemd-analyze", "security", "--offline=true", "--threshold=30", str(unit)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2_000:]


def test_the_demonstration_plays(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "paretozoom", "demo", "--port", "0", "--rounds", "30", "--rate", "200"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    lines = [msgspec.json.decode(line) for line in done.stderr.splitlines()]
    assert [line["message"] for line in lines if line["level"] != "info"] == []
    assert "look" in [line["message"] for line in lines]
    assert not list(tmp_path.iterdir())
