"""A study is data: policies x environments x runs, in parallel, resumable, the same for any number of workers."""

from __future__ import annotations

import hashlib
import inspect
import itertools
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

import paretozoom
from paretozoom.environments.base import Task
from paretozoom.kernels.core.sources import fingerprint, sources_of
from paretozoom.metrics import STANDARD
from paretozoom.policies import BASELINE, DEFAULT_POLICY, Policy
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats
from paretozoom.records import Refused, Snapshot
from paretozoom.registry import check_parameters, find_member
from paretozoom.similarity import function_named
from paretozoom.simulation import simulate_in_chunks
from paretozoom.study.results import add_up, compare, packed, theory_of

UNKNOWN = "unknown"  # what a TOML file says for a horizon of None


class Spec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A policy or an environment by name ("module:Class" or "file.py:Class" for one of your own), with its parameters.

    A policy may name the environments it plays in, by their titles; without any it plays in all.

    >>> Spec("pcz", parameters={"noise": 0.5}).title
    'pcz'
    """

    name: str
    label: str = ""
    parameters: dict[str, Any] = {}
    environments: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What outputs call it."""
        return self.label or self.name


DEFAULT = (Spec(DEFAULT_POLICY.name), Spec(BASELINE.name))


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is compared, where, for how long and how often.

    A policy that takes a horizon gets the number of rounds, unless its parameters say otherwise
    (``horizon = "unknown"`` for None). Without policies, ParetoZoom plays beside Random. The description is for
    readers: the report and the command line show it.

    >>> study = Study("small", 100, 2, (Spec("paper"),), (Spec("random"), Spec("pcz")))
    >>> study.policy(1, study.environment(0).problem).parameters["horizon"]
    100
    """

    name: str
    rounds: int
    runs: int
    environments: tuple[Spec, ...]
    policies: tuple[Spec, ...] = DEFAULT
    seed: int = 0
    delay: int = 0
    description: str = ""

    def __post_init__(self) -> None:
        for field, least in (("rounds", 1), ("runs", 1), ("seed", 0), ("delay", 0)):
            if getattr(self, field) < least:
                raise Refused(f"{field}: {getattr(self, field)!r} is below {least}")
        if not self.name or not self.name.isprintable() or set(self.name) & set("/\\") or self.name.startswith("."):
            raise Refused(f"name: {self.name!r} cannot name a folder")
        for policy in self.policies:
            if "seed" in policy.parameters:
                raise Refused(f"policies[{policy.title!r}]: a seed is given, but each run has its own from the study's")
        _check_titles("environments", self.environments)
        known = [environment.title for environment in self.environments]
        for environment in self.environments:
            if environment.environments:
                raise Refused(f"environments[{environment.title!r}]: environments are given, but only policies play")
        for policy in self.policies:
            if unknown := [title for title in policy.environments if title not in known]:
                raise Refused(f"policies[{policy.title!r}]: environments: {unknown[0]!r} is not one of {known!r}")
        for e, title in enumerate(known):
            with _naming("environments", title):
                _check_titles("policies", tuple(self.policies[p] for p in self.players(e)))

    def players(self, environment: int) -> list[int]:
        """The numbers of the policies that play in an environment.

        >>> specs = Spec("random"), Spec("pcz", environments=("tents",))
        >>> Study("small", 100, 2, (Spec("paper"), Spec("tents")), specs).players(0)
        [0]
        """
        title = self.environments[environment].title
        return [p for p, policy in enumerate(self.policies) if title in (policy.environments or (title,))]

    @classmethod
    def read(cls, path: Path) -> Study:
        """A study from a TOML file."""
        try:
            study = msgspec.toml.decode(path.read_bytes(), type=cls)
        except OSError as error:
            raise Refused(f"{path}: cannot be read ({error.strerror})") from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise Refused(f"{path}: {error}") from error
        try:
            study.check()
        except Refused as error:
            raise Refused(f"{path}: {error}") from error
        return study

    def check(self) -> None:
        """Build everything once, so that a mistake is found before the first round."""
        for e, environment in enumerate(self.environments):
            with _naming("environments", environment.title):
                problem = self.environment(e).problem
            for p in self.players(e):
                with _naming("policies", self.policies[p].title):
                    self.policy(p, problem)

    def environment(self, which: int) -> Task:
        """A fresh environment."""
        spec = self.environments[which]
        member = find_member("paretozoom.environments", Task, spec.name)
        check_parameters(member, spec.parameters)
        return member(**spec.parameters)

    def policy(self, which: int, problem: Problem) -> Policy:
        """A fresh policy."""
        spec = self.policies[which]
        member = find_member("paretozoom.policies", Policy, spec.name)
        check_parameters(member, spec.parameters)
        parameters = dict(spec.parameters)
        try:
            check_parameters(member, {"horizon": 0})
            parameters.setdefault("horizon", self.rounds)
        except Refused:
            pass
        if parameters.get("horizon") == UNKNOWN:
            parameters["horizon"] = None
        return member(problem, **parameters)


def _check_titles(field: str, specs: tuple[Spec, ...]) -> None:
    """Refuse no specs at all, and titles that cannot be told apart or cannot name files."""
    titles = [spec.title for spec in specs]
    if not titles:
        raise Refused(f"{field}: none given")
    for title in titles:
        if titles.count(title) > 1:
            raise Refused(f"{field}: {title!r} is given twice; give one of them another label")
        if not title.isprintable() or set(title) & set("/\\") or title.startswith("."):
            raise Refused(f"{field}: the label {title!r} cannot name a file")


@contextmanager
def _naming(field: str, title: str) -> Iterator[None]:
    """Put the name of what was being built in front of a refusal."""
    try:
        yield
    except (Refused, TypeError) as error:
        raise Refused(f"{field}[{title!r}]: {error}") from error


class Part(msgspec.Struct, frozen=True):
    """One run of one policy in one environment."""

    environment: int
    policy: int
    run: int


def parts_of(study: Study) -> list[Part]:
    """All parts, in the order in which they are added up.

    >>> len(parts_of(Study("small", 100, 3, (Spec("paper"),), (Spec("random"), Spec("pcz")))))
    6
    """
    return [
        Part(e, p, run) for e in range(len(study.environments)) for p in study.players(e) for run in range(study.runs)
    ]


def seed_of(study: Study, run: int) -> int:
    """The seed of a run: all policies of one run meet the same contexts and the same luck."""
    sequence = np.random.SeedSequence(study.seed, spawn_key=(run,))
    return int.from_bytes(sequence.generate_state(4).tobytes(), "little")


def warm_up(study: Study, environment: int, policy: int) -> None:
    """Compile the kernels of a policy and the loop of an environment, or load what was compiled before."""
    task = study.environment(environment)
    for _ in simulate_in_chunks(study.policy(policy, task.problem), task, 1, seed=0):
        pass


def play(study: Study, part: Part) -> Snapshot:
    """Play one part; its measurements are the header, its curves and the final state the arrays."""
    warm_up(study, part.environment, part.policy)
    environment = study.environment(part.environment)
    policy = study.policy(part.policy, environment.problem)
    metrics = [metric(environment, study.rounds) for metric in STANDARD]
    seconds, begun = 0.0, time.perf_counter()
    for rounds in simulate_in_chunks(
        policy, environment, study.rounds, seed=seed_of(study, part.run), delay=study.delay
    ):
        seconds += time.perf_counter() - begun
        for metric in metrics:
            metric.update(rounds)
        begun = time.perf_counter()
    header: dict[str, Any] = {"notes": policy.notes, "balls": None, **policy.facts()}
    arrays: dict[str, Any] = {}
    for metric in metrics:
        header.update(metric.result())
        arrays.update(metric.curves())
    header["seconds_per_round"] = seconds / study.rounds
    if part.run == 0 and policy.can_dump:
        arrays["state"] = np.frombuffer(policy.dump().to_bytes(), np.uint8)
    return Snapshot(header, arrays)


@cache
def _sources(environment: str, policy: str, distance: str | None) -> str:
    """A fingerprint of all code that a part depends on: the package's, and the files of what is the user's own."""
    files = set(Path(paretozoom.__file__).parent.rglob("*.py"))
    functions = [] if distance is None else [function_named(distance)]
    for member in (
        find_member("paretozoom.environments", Task, environment),
        find_member("paretozoom.policies", Policy, policy),
    ):
        for ancestor in member.__mro__[:-1]:
            files.add(Path(inspect.getfile(ancestor)))
        for name in [name for name in dir(member) if name.endswith("kernel")]:
            kernels = getattr(member, name)
            some = [kernels] if callable(kernels) else [f for f in vars(kernels or object).values() if callable(f)]
            functions += [function for function in some if hasattr(function, "py_func")]
    behind = sources_of(*functions)
    files.update(behind.files)
    return fingerprint(*sorted(file for file in files if file.is_file()), *behind.values)


def _part_path(study: Study, part: Part, out: Path) -> Path:
    """Where a part is kept: under a name made from all that it depends on."""
    environment, policy = study.environments[part.environment], study.policies[part.policy]
    similarity = policy.parameters.get("similarity")
    distance = similarity.get("function") if isinstance(similarity, Mapping) else None
    key = msgspec.json.encode(
        [
            _sources(environment.name, policy.name, distance if isinstance(distance, str) else None),
            [study.rounds, study.seed, study.delay],
            [environment.name, environment.parameters],
            [policy.name, policy.parameters],
        ],
        order="sorted",
    )
    return out / "parts" / f"{hashlib.sha256(key).hexdigest()[:16]}-{part.run:05d}.safetensors"


def _play_and_keep(study: Study, part: Part, out: Path) -> None:
    write_whole(_part_path(study, part, out), play(study, part).to_bytes())


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that an interruption leaves the old one or the new one, never half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_bytes(data)
    os.replace(temporary, path)


def _is_whole(path: Path) -> bool:
    """Whether a part was played and can be read; one that is damaged is played again."""
    try:
        Snapshot.from_bytes(path.read_bytes())
    except (OSError, Refused):
        return False
    return True


def _check_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_whole(out / "parts" / ".writable", b"")
        (out / "parts" / ".writable").unlink()
    except OSError as error:
        raise Refused(f"out: {str(out)!r} is not a folder that can be written ({error.strerror})") from error


Progress = Callable[[int, int], None]


def run_study(
    study: Study,
    out: Path,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    compiling: Progress | None = None,
) -> dict[str, Any]:
    """Play what is missing, add everything up, and write results.json, curves.npz and snapshots/ to `out`.

    `progress(done, parts)` is called as parts are finished, and before that `compiling(done, pairs)` as the kernels of
    a policy in an environment are compiled, or found in the cache. An interrupted study goes on where it stopped.
    """
    study.check()
    if jobs is not None and jobs < 1:
        raise Refused(f"jobs: {jobs!r} is below 1")
    parts = parts_of(study)
    _check_folder(out)
    missing = [part for part in parts if not _is_whole(_part_path(study, part, out))]
    finished = _played(study, missing, out, jobs or os.cpu_count() or 1, compiling or _silent)
    progress = progress or _silent
    for done, _ in enumerate(finished, len(parts) - len(missing)):
        progress(done, len(parts))
    progress(len(parts), len(parts))
    results: dict[str, Any] = {"study": msgspec.to_builtins(study), "environments": {}}
    curves: dict[str, Floats] = {}
    for e, environment in enumerate(study.environments):
        policies: dict[str, Any] = {}
        regrets: dict[str, Floats] = {}
        players = {p: study.policies[p] for p in study.players(e)}
        for p, policy in players.items():
            paths = [_part_path(study, Part(e, p, run), out) for run in range(study.runs)]
            runs = [Snapshot.from_bytes(path.read_bytes()) for path in paths]
            policies[policy.title] = add_up([run.header for run in runs])
            curve = np.stack([run.arrays["regret"] for run in runs])
            regrets[policy.title] = curve[:, -1]
            curves[f"{environment.title}/rounds"] = runs[0].arrays["rounds"]
            curves[f"{environment.title}/{policy.title}/regret"] = curve
            if "state" in runs[0].arrays:
                state = out / "snapshots" / environment.title / f"{policy.title}.safetensors"
                write_whole(state, runs[0].arrays["state"].tobytes())
        compare(policies, regrets, next((spec.title for spec in players.values() if spec.name == BASELINE.name), None))
        task = study.environment(e)
        played = {spec.title: study.policy(p, task.problem) for p, spec in players.items()}
        theory = theory_of(task, {} if study.delay else played, study.rounds)
        results["environments"][environment.title] = {"policies": policies, "theory": theory}
    write_whole(out / "curves.npz", packed(curves))
    write_results(results, out)
    return results


def write_results(results: dict[str, Any], out: Path) -> None:
    """Write results.json."""
    write_whole(out / "results.json", msgspec.json.format(msgspec.json.encode(results)) + b"\n")


def _silent(done: int, parts: int) -> None:
    """Show no progress."""


def _played(study: Study, missing: list[Part], out: Path, jobs: int, compiling: Progress) -> Iterator[None]:
    if not missing:
        return
    # First, so that the parts find every kernel in the cache. One pair here, for what all of them share.
    pairs = sorted({(part.policy, part.environment) for part in missing})
    compiling(0, len(pairs))
    _warm_up_all(study, pairs[:1])
    compiling(1, len(pairs))
    if jobs == 1 or len(missing) == 1:
        for done, pair in enumerate(pairs[1:], 2):
            _warm_up_all(study, [pair])
            compiling(done, len(pairs))
        for part in missing:
            _play_and_keep(study, part, out)
            yield
        return
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=min(jobs, len(missing)), return_as="generator_unordered")
    by_policy = [list(of_one) for _, of_one in itertools.groupby(pairs[1:], key=lambda pair: pair[0])]
    done = 1
    for found in pool(delayed(_warm_up_all)(study, of_one) for of_one in by_policy):
        done += found
        compiling(done, len(pairs))
    yield from pool(delayed(_play_and_keep)(study, part, out) for part in missing)


def _warm_up_all(study: Study, pairs: list[tuple[int, int]]) -> int:
    for policy, environment in pairs:
        warm_up(study, environment, policy)
    return len(pairs)
