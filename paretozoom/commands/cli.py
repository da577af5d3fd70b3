"""The command line; the heavy parts are imported by the command that needs them."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import paretozoom
from paretozoom.commands.operations import app as operations
from paretozoom.records import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

app = typer.Typer(
    help="Contextual bandits with several objectives: learn which arms are Pareto optimal, play them fairly.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.add_typer(operations)

FIRST_USE = "half a minute for PCZ, a minute for ParetoZoom, several for study table1; kept for the next time"
CAPTION = (
    "regret: how far choices were from the best trade-offs, added up, ± its standard error; /random: over that of "
    "random play; front: share of choices among the best trade-offs; m/M: of these the least over the most played bin, "
    "entropy: how evenly they are played in each context, 1 is fair in both; balls: regions made; us: microseconds per "
    "round"
)
SECONDS_BETWEEN_LINES = 10  # of progress, where no bar can be drawn

Jobs = Annotated[int | None, typer.Option(help="Processes to use; all cores unless given.")]
Out = Annotated[Path | None, typer.Option(help="Folder to write to; results/ and the study's name unless given.")]


def main() -> None:
    """Run the command line; what is refused ends in one line and exit code 2."""
    try:
        app()
    except Refused as error:
        print(f"paretozoom: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("\nparetozoom: interrupted; the same command goes on where it stopped", file=sys.stderr)
        sys.exit(130)


def _show_version(wanted: bool) -> None:
    if wanted:
        print(paretozoom.__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command()
def study(
    file: Annotated[Path, typer.Argument(help="A TOML file, or the name of one in studies/.")],
    jobs: Jobs = None,
    out: Out = None,
) -> None:
    """Run a study, going on where it was interrupted, and write results.json, figures and report.html."""
    from paretozoom.study import Study, run_study
    from paretozoom.study.report import write_report

    path = _find_study(file)
    _make_importable(Path.cwd(), path.parent)
    with _said_if_compiling():  # which building a policy to check it does too
        plan = Study.read(path)
        folder = out or Path("results") / plan.name
        with _progress(f"{plan.name}: {plan.rounds:,} rounds") as shown:
            results = run_study(plan, folder, jobs=jobs, **shown)
    page = write_report(folder)
    _print_text(plan.description)
    for environment, found in results["environments"].items():
        _print_policies(environment, found["policies"])
    _print_text(CAPTION)
    print(f"report: {page}")


@app.command()
def play(
    environment: Annotated[str, typer.Argument(help="An environment with known truth.")] = "paper",
    policy: Annotated[
        str, typer.Option(help="The policy that plays, at its defaults; one of your own as shop.py:Mine.")
    ] = "pareto-zoom",
    rounds: Annotated[int, typer.Option(help="Rounds of a run.")] = 10_000,
    runs: Annotated[int, typer.Option(help="Runs.")] = 3,
    seed: Annotated[int, typer.Option(help="The seed of all runs.")] = 0,
    jobs: Jobs = None,
) -> None:
    """Let a policy play beside Random, and show how well and how fairly it does."""
    from tempfile import TemporaryDirectory

    from paretozoom.study import Spec, Study, run_study

    _make_importable(Path.cwd())
    players = tuple(Spec(name, name.rpartition(":")[2]) for name in dict.fromkeys((policy, "random")))
    plan = Study("play", rounds, runs, (Spec(environment),), players, seed=seed)
    with TemporaryDirectory() as folder, _said_if_compiling(), _progress(f"{environment}: {rounds:,} rounds") as shown:
        results = run_study(plan, Path(folder), jobs=jobs, **shown)
    _print_policies(environment, results["environments"][environment]["policies"])
    _print_text(CAPTION)


@app.command()
def reproduce(
    runs: Annotated[int | None, typer.Option(help="Runs of each policy; 100 as in the paper unless given.")] = None,
    rounds: Annotated[int | None, typer.Option(help="Rounds of a run; 100,000 unless given.")] = None,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help="The seed of the whole study.")] = 0,
    out: Out = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer and shorter runs, for a first look.")] = False,
) -> None:
    """Reproduce Appendix D of the paper: Random, PCZ and Contextual Zooming, with its claims beside our figures."""
    from paretozoom.study import reproduce as appendix

    plan = appendix.appendix_d(
        rounds=(appendix.QUICK_ROUNDS if quick else appendix.ROUNDS) if rounds is None else rounds,
        runs=(appendix.QUICK_RUNS if quick else appendix.RUNS) if runs is None else runs,
        seed=seed,
    )
    folder = out or Path("results") / ("reproduce-quick" if quick else "reproduce")
    with _said_if_compiling(), _progress(f"Appendix D: {plan.runs} runs of {plan.rounds:,} rounds") as shown:
        results = appendix.reproduce(folder, plan, jobs=jobs, **shown)
    _print_text(plan.description)
    _print_policies("paper", results["policies"])
    _print_text(CAPTION)
    _print_claims(results["claims"])
    _print_text(results["diagnosis"]["text"])
    if not appendix.is_full(plan):
        print("The paper's figures are for 100 runs of 100,000 rounds; a smaller study is not judged by them.")
    print(f"report: {folder / 'report.html'}")


@app.command()
def environments() -> None:
    """List the environments with known truth that policies can be tried on, and what each is."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from paretozoom.environments import Task
    from paretozoom.registry import find_members, line_of

    table = Table(
        box=SIMPLE_HEAD, padding=(0, 1, 0, 0), caption="The second name is the class, as in paretozoom.Tents."
    )
    for head in ("name", "what it is"):
        table.add_column(head, no_wrap=head == "name")
    for known, member in find_members("paretozoom.environments", Task).items():
        table.add_row(f"{known}\n{member.__name__}", line_of(member))
    Console(markup=False, emoji=False, highlight=False).print(table)


@app.command()
def policies(
    name: Annotated[str | None, typer.Argument(help="One of them: what it does, and all its parameters.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="As the Markdown table of the documentation.")] = False,
) -> None:
    """List the policies: what each does, what it can use, what is proved about it and where it comes from."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from paretozoom.policies import Policy
    from paretozoom.policies.summary import as_markdown, rows_of
    from paretozoom.registry import find_members

    if name is not None:
        _print_policy(name)
        return
    rows = rows_of(find_members("paretozoom.policies", Policy))
    if markdown:
        print(as_markdown(rows))
        return
    caption = (
        "multi: learns all objectives; context: looks at it; similar: uses how alike contexts and arms are; adapts: "
        "looks closer where it pays. The second name is the class, as in paretozoom.PCZ. More of one: paretozoom "
        "policies pcz."
    )
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_lines=True, caption=caption)
    for head in ("name", "multi", "context", "similar", "adapts", "what it does, what is proved, where it comes from"):
        table.add_column(head, no_wrap=head == "name")
    for known, here, line, *answers, guarantee, reference in rows:
        table.add_row(f"{known}\n{here}", *answers, f"{line}\n{guarantee}\n{reference}")
    Console(markup=False, emoji=False).print(table)


def _print_policy(name: str) -> None:
    """The docstring of a policy, by its name or that of its class, and what it takes."""
    import inspect

    from paretozoom.policies import Policy
    from paretozoom.registry import find_member, find_members

    classes = {member.__name__: known for known, member in find_members("paretozoom.policies", Policy).items()}
    member = find_member("paretozoom.policies", Policy, classes.get(name, name))
    own = not member.__module__.startswith("paretozoom.")
    imports = f"from {member.__module__ if own else 'paretozoom'} import {member.__name__}"
    print(f"{member.name}: {imports}{'' if own else ', Problem'}\n\n{inspect.getdoc(member)}\n\nParameters:")
    written, meant = (inspect.signature(member, eval_str=meant).parameters for meant in (False, True))
    for parameter in list(written.values())[1:]:  # the first is the problem
        values = str(meant[parameter.name])  # names of literals are the code's, their values the reader's
        kind = "" if parameter.annotation is parameter.empty else f": {parameter.annotation}"
        plain = f"{parameter.name}{kind} = {parameter.default!r}"
        print(f"  {values if 'Literal' in values else plain}")
    print(f"\nGuarantee: {member.summary.guarantee}\nReference: {member.summary.reference or '-'}")


def _find_study(file: Path) -> Path:
    """A file, or the name of one in studies/: here, in the package, or beside it if it was installed in place."""
    if file.is_file() or file.suffix:
        return file
    package = Path(paretozoom.__file__).parent
    folders = [Path("studies"), package / "studies", package.parent / "studies"]
    known = {path.stem: path for folder in reversed(folders) for path in sorted(folder.glob("*.toml"))}
    if str(file) not in known:
        raise Refused(f"file: {str(file)!r} is no file, and not one of the known studies {sorted(known)!r}")
    return known[str(file)]


def _make_importable(*folders: Path) -> None:
    """Let a study name classes in files beside it, here and in worker processes."""
    paths = [str(folder.resolve()) for folder in folders]
    sys.path[:0] = [path for path in paths if path not in sys.path]
    os.environ["PYTHONPATH"] = os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH")])])


@contextmanager
def _said_if_compiling() -> Iterator[None]:
    """Print a line as soon as this process compiles a kernel that will be kept for the next."""
    from numba.core import event

    class Compiling(event.Listener):
        said = False

        def on_start(self, event: Any) -> None:
            if not self.said and event.data["dispatcher"].stats.cache_path is not None:
                self.said = True
                print(f"compiling kernels: {FIRST_USE}", file=sys.stderr)

        def on_end(self, event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Compiling()):
        yield


@contextmanager
def _progress(title: str) -> Iterator[dict[str, Callable[[int, int], None]]]:
    """What shows how far a study is, by the parameters of `run_study`: bars, or now and then a line in a file."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        shown: dict[str, Any] = {}

        def show(what: str) -> Callable[[int, int], None]:
            last: list[float] = []

            def update(done: int, of: int) -> None:
                if what not in shown:
                    shown[what] = bar.add_task(what, total=of)
                bar.update(shown[what], completed=done, total=of)
                now = time.monotonic()
                last[:] = last or [now]
                if not console.is_terminal and now - last[0] >= SECONDS_BETWEEN_LINES:
                    last[:] = [now]
                    print(f"{what}: {done} of {of}", file=sys.stderr)

            return update

        yield {"compiling": show("kernels, compiled on first use"), "progress": show(title)}


def _print_text(text: str) -> None:
    from rich.console import Console

    if text:
        Console(markup=False, emoji=False, highlight=False).print(text)


def _print_policies(environment: str, found: dict[str, Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    from paretozoom.study.results import is_dust

    columns = {  # in order, those of which something is known
        head: (form, [_at(row, key) for row in found.values()])
        for head, key, form in (
            ("/random", "regret_over_random", ".3f"),
            ("front", "front_share", ".3f"),
            ("m/M", "bin_ratio", ".3f"),
            ("entropy", "local_entropy", ".3f"),
            ("balls", "balls", ".1f"),
            ("us", "seconds_per_round", ".2f"),
        )
    }
    columns = {head: column for head, column in columns.items() if any(value is not None for value in column[1])}
    table = Table(title=environment, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("policy", overflow="fold")
    for head in ("regret", *columns):
        table.add_column(head, justify="right", no_wrap=True)
    order = sorted(range(len(found)), key=lambda k: list(found.values())[k]["regret"]["mean"])
    notes: dict[str, list[str]] = {}
    for k in order:
        label, row = list(found.items())[k]
        mean, se = row["regret"]["mean"], row["regret"]["se"]
        cells = [_number(values[k], form) for form, values in columns.values()]
        form = ",.0f" if mean >= 100 else ".1f"
        table.add_row(label, f"{mean:{form}}" + ("" if se is None or is_dust(se, mean) else f" ± {se:{form}}"), *cells)
        for note in row["notes"]:
            notes.setdefault(note, []).append(label)
    console = Console(markup=False, emoji=False, highlight=False)
    console.print(table)
    for note, labels in notes.items():
        console.print(f"{note}: {', '.join(labels)}")


def _at(row: dict[str, Any], key: str) -> float | None:
    value: float | None = row.get(key)
    return value * 1e6 if key.startswith("seconds_") and value is not None else value


def _print_claims(found: dict[str, Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title="The paper's claims", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for column in ("claim", "paper", "measured", "bar", "holds"):
        table.add_column(column, no_wrap=column != "claim")
    words = {True: "yes", False: "no", None: "-"}
    for claim in found.values():
        table.add_row(claim["claim"], claim["paper"], claim["measured"], claim["bar"], words[claim["holds"]])
    Console(markup=False, emoji=False).print(table)


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)
