"""The commands of whoever runs the service; the heavy parts are imported by the command that needs them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paretozoom.records import Refused

if TYPE_CHECKING:
    from paretozoom.store import Store

app = typer.Typer()
tokens = typer.Typer(help="Create, list and revoke tokens.", no_args_is_help=True)
app.add_typer(tokens, name="token")

FOLDER = Path("paretozoom-data")
At = Annotated[
    str, typer.Option("--store", help="A folder (SQLite, made on first use), or postgresql://user@host/database.")
]
Policies = Annotated[
    list[str] | None,
    typer.Option(
        "--policy",
        help="A policy of your own, as shop.py:Mine; requests may name it by its name. May be given more than once.",
    ),
]
Durability = Annotated[
    str,
    typer.Option(
        help="commit: what was acknowledged survives the end of the service, however it ends; fsync: also that of the "
        "machine, at the price of waiting for the disk."
    ),
]


@app.command()
def serve(
    store: At = str(FOLDER),
    host: Annotated[
        str, typer.Option(help="The address to listen on; another than loopback needs tokens.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any that is free.")] = 8080,
    durability: Durability = "commit",
    policy: Policies = None,
    access_log: Annotated[
        bool, typer.Option("--access-log", help="A line of the log for each answer, which says who asked.")
    ] = False,
    standby: Annotated[
        bool, typer.Option("--standby", help="While another service runs on the store, wait until it has ended.")
    ] = False,
) -> None:
    """Serve decisions over HTTP: two requests, one for an arm and one for its reward."""
    from paretozoom.service.running import log_in_json
    from paretozoom.service.running import serve as run
    from paretozoom.service.writing.store_lock import wait_for_store

    _admit(policy)
    with _open(store, durability, new=True) as opened:
        if standby:
            log_in_json()
            wait_for_store(opened)
        run(opened, host, port, access_log=access_log)


@app.command()
def demo(
    port: Annotated[int, typer.Option(help="0: any that is free.")] = 8080,
    rate: Annotated[float, typer.Option(help="Decisions per second of the simulated client.")] = 50.0,
    rounds: Annotated[int | None, typer.Option(help="Stop after so many; without end unless given.")] = None,
) -> None:
    """Start the service in a temporary folder, with a simulated client that plays the paper's task."""
    from paretozoom.commands.demo import demo as run

    run(port, rate, rounds)


@app.command()
def replay(
    store: At = str(FOLDER),
    experiment: Annotated[str | None, typer.Option(help="One experiment; all unless given.")] = None,
    until: Annotated[int | None, typer.Option(help="The last entry to replay, from 1 on.")] = None,
    policy: Policies = None,
) -> None:
    """Check every byte of every log and snapshot, fold the logs, and see that snapshots lead to the same state."""
    from rich.console import Console
    from rich.table import Table

    from paretozoom.service.writing.loading import verify

    if until is not None and until < 1:
        raise Refused(f"until: {until} is not an entry of a log, the first of which is 1")
    _admit(policy)
    table = Table("experiment", "entries", "state", "by way of snapshots", box=None)
    troubles: list[str] = []
    with _open(store, "commit") as opened:
        names = [name for name in opened.logs() if not name.startswith("_")]
        if experiment is not None and experiment not in names:
            raise Refused(f"experiment: {experiment!r} is not one of {names!r}")
        for name in names if experiment is None else [experiment]:
            found = verify(opened, name, until)
            words = [f"entry {seq}: {what}" for seq, what in found.snapshots.items()]
            words += [f"folded from entry {found.begin}"] if found.begin else []
            digest = "DAMAGED" if found.digest is None else found.digest[:16]
            table.add_row(name, str(found.entries), digest, ", ".join(words) or "none saved")
            if not found.fine:
                troubles += found.troubles or [f"experiment {name!r}: a snapshot does not agree with its log"]
        if experiment is None:
            troubles += _troubles_of_tokens(opened)
    Console(highlight=False).print(table)
    for trouble in troubles:
        print(f"paretozoom: {trouble}", file=sys.stderr)
    if troubles:
        raise typer.Exit(1)


@app.command()
def diagnose(
    experiment: Annotated[str, typer.Argument(help="The name of the experiment.")],
    store: At = str(FOLDER),
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with all numbers.")] = False,
) -> None:
    """Say what the rounds of an experiment show: rewards, contexts, coordinates, the similarity; and what to do."""
    from paretozoom.commands.diagnosing import as_json as in_json
    from paretozoom.commands.diagnosing import as_text, diagnosis_of

    with _open(store, "commit") as opened:
        if experiment not in opened.logs() or experiment.startswith("_"):
            names = [name for name in opened.logs() if not name.startswith("_")]
            raise Refused(f"experiment: {experiment!r} is not one of {names!r}")
        found = diagnosis_of(opened, experiment)
    print(in_json(found) if as_json else as_text(experiment, found))


def _troubles_of_tokens(store: Store) -> list[str]:
    """What is wrong with the log of tokens."""
    from paretozoom.service.access.tokens import ADMIN_LOG
    from paretozoom.store import Damaged

    try:
        for _ in store.read(ADMIN_LOG):
            pass
    except Damaged as error:
        return [str(error)]
    return []


@app.command()
def repair(
    experiment: Annotated[str, typer.Argument(help="The name of the experiment.")],
    store: At = str(FOLDER),
    cut: Annotated[
        bool, typer.Option("--cut", help="Throw away all entries from the first that cannot be saved on.")
    ] = False,
    policy: Policies = None,
) -> None:
    """Rebuild a damaged experiment from what is not damaged; no service may run on the store."""
    from paretozoom.service.writing.repairing import repair as run
    from paretozoom.service.writing.store_lock import StoreLock

    _admit(policy)
    with _open(store, "fsync") as opened:
        StoreLock(opened).acquire()
        if experiment not in opened.logs():
            raise Refused(f"experiment: {experiment!r} is not one of {list(opened.logs())!r}")
        print(f"{experiment}: {run(opened, experiment, cut=cut)}")


@app.command()
def upgrade(
    store: At = str(FOLDER),
    check: Annotated[bool, typer.Option("--check", help="Only say what would be done, and change nothing.")] = False,
    policy: Policies = None,
) -> None:
    """Bring the tables to the form of this version, and say which experiments it can go on with."""
    from rich.console import Console
    from rich.table import Table

    from paretozoom.service.writing.loading import trouble_with

    _admit(policy)
    table = Table("experiment", "with this version", box=None)
    troubles = 0
    with _open(store, "fsync", migrate=not check) as opened:
        for name in opened.logs():
            if not name.startswith("_"):
                trouble = trouble_with(opened, name)
                troubles += trouble is not None
                table.add_row(name, trouble or "fine")
    Console(highlight=False).print(table)
    if troubles:
        raise typer.Exit(1)


@app.command()
def backup(
    target: Annotated[
        str, typer.Argument(help="A new folder, or an empty PostgreSQL database; serve it with --store to restore.")
    ],
    store: At = str(FOLDER),
) -> None:
    """Copy a store, also one that is in use, to a new one: every log up to some entry, and its snapshots."""
    from paretozoom.store.copying import copy_store

    if "://" not in target and Path(target).exists() and any(Path(target).iterdir()):
        raise Refused(f"target: {target!r} is not empty")
    with _open(store, "commit") as source, _open(target, "fsync", new=True) as copy:
        copied = copy_store(source, copy)
    print(f"{target.rpartition('@')[2]}: {sum(copied.values()):,} entries of {len(copied)} logs")


@tokens.command("create")
def create_token(
    scope: Annotated[list[str], typer.Option(help="decide, reward, read or admin; may be given more than once.")],
    store: At = str(FOLDER),
    experiment: Annotated[str | None, typer.Option(help="The only experiment it is for; all unless given.")] = None,
    expires: Annotated[str | None, typer.Option(help="After so long: 90d, 12h, 30m.")] = None,
    label: Annotated[str, typer.Option(help="For whoever reads the list.")] = "",
    rate: Annotated[float | None, typer.Option(help="Decisions and rewards per second; no limit unless given.")] = None,
) -> None:
    """Create a token and show it, this once: only a hash is kept."""
    import time

    from paretozoom.service.access.tokens import append_event, new_token

    until = None if expires is None else time.time() + _seconds(expires)
    text, event = new_token(scope, experiment, until, label, rate)
    with _open(store, "fsync", new=True) as opened:
        append_event(opened, event)
    print(text)


@tokens.command("list")
def list_tokens(store: At = str(FOLDER)) -> None:
    """List the tokens that are worth something."""
    import time

    from rich.console import Console
    from rich.table import Table

    from paretozoom.service.access.tokens import Tokens

    found = Tokens()
    with _open(store, "commit") as opened:
        found.refresh(opened)
    table = Table("id", "scopes", "experiment", "expires", "label", box=None)
    for token in found.by_id.values():
        when = "never" if token.expires is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(token.expires))
        table.add_row(token.id, " ".join(token.scopes), token.experiment or "all", when, token.label)
    Console(highlight=False, markup=False).print(table)


@tokens.command("revoke")
def revoke_token(
    name: Annotated[str, typer.Argument(help="Its id, as in the list, or the token itself.")], store: At = str(FOLDER)
) -> None:
    """Make a token worthless; a running service notices within a second."""
    from paretozoom.service.access.tokens import Tokens, append_event
    from paretozoom.store.events import TokenRevoked

    which = name.split("_")[1] if name.startswith("pz_") else name
    found = Tokens()
    with _open(store, "fsync") as opened:
        found.refresh(opened)
        if which not in found.by_id:
            raise Refused(f"token: {which!r} is not one of {list(found.by_id)!r}")
        append_event(opened, TokenRevoked(which))
    print(f"{which}: revoked")


def _admit(places: list[str] | None) -> None:
    """Let experiments have these policies of the operator's own."""
    from paretozoom.service.experiments.policies import admit

    for place in places or []:
        admit(place)


def _seconds(text: str) -> float:
    units = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    try:
        value = float(text[:-1]) * units[text[-1:]]
    except (KeyError, ValueError):
        value = -1.0
    if not 0 < value < 1e10:
        raise Refused(f"expires: {text!r} is not a time such as 90d, 12h, 30m or 60s")
    return value


@contextmanager
def _open(where: str, durability: str, *, new: bool = False, migrate: bool = True) -> Iterator[Store]:
    from paretozoom.store import FILE, StoreError, open_store

    shown = where.rpartition("@")[2] if "://" in where else where  # a password may come before
    if not new and "://" not in where and not (Path(where) / FILE).is_file():
        raise Refused(f"store: {shown!r} has no {FILE}: nobody has served from it yet")
    try:
        place = where if "://" in where else Path(where)
        opened: Any = open_store(place, durability=durability, migrate=migrate)
    except StoreError as error:
        raise Refused(f"store: {shown!r} cannot be opened ({error})") from error
    try:
        yield opened
    except StoreError as error:
        raise Refused(f"store: {error}") from error
    finally:
        opened.close()
