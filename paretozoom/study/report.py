"""One page about a study: results.json, curves.npz and snapshots in, figures and a self-contained report.html out."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from paretozoom.environments.base import Task
from paretozoom.metrics import STANDARD
from paretozoom.metrics.base import Column
from paretozoom.plots import style
from paretozoom.plots.gallery import Drawing, draw_study
from paretozoom.policies.base import Policy
from paretozoom.records import Refused
from paretozoom.registry import find_member, line_of
from paretozoom.study.results import is_dust

CSS = """
:root { color-scheme: light dark; --ink: #1c1e21; --soft: #5b6168; --page: #ffffff; --line: #d9dce0; --box: #f5f6f8;
  --yes: #00634a; --no: #a33c00; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --soft: #a4abb3; --page: #16181b; --line: #3a3f45;
  --box: #202327; --yes: #4fd1a5; --no: #ff9f66; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--page); color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.2; } h2 { margin-top: 2.5rem; border-bottom: 2px solid var(--line); }
h3 { margin: 1.8rem 0 .5rem; } p { max-width: 50rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(17rem, 1fr)); gap: .5rem 1.5rem; font-size: .9rem; }
dt { font-weight: 600; } dd { margin: 0; color: var(--soft); }
.scroll { overflow-x: auto; margin: .6rem 0 1.2rem; }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .6rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
td { white-space: nowrap; } thead th { vertical-align: bottom; border-bottom-width: 2px; }
.text { text-align: left; white-space: normal; } tbody th.text { min-width: 7rem; } td.text { min-width: 14rem; }
td small { display: block; } small { color: var(--soft); font-weight: normal; }
.yes { color: var(--yes); font-weight: 700; } .no { color: var(--no); font-weight: 700; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1rem; }
figure { margin: 0; } figure svg { display: block; width: 100%; height: auto; background: #ffffff;
  border: 1px solid var(--line); border-radius: 6px; }
figcaption { padding: .3rem .1rem; color: var(--soft); font-size: .85rem; }
summary { cursor: pointer; color: var(--soft); }
pre { overflow-x: auto; padding: .8rem; background: var(--box); border-radius: 6px; font-size: .8rem; }
@media print { body { max-width: none; font-size: 9pt; } table { font-size: 7pt; } .scroll { overflow: visible; }
  th, td { padding: .15rem .25rem; } figure, tr { break-inside: avoid; } h2, h3 { break-after: avoid; } }
"""

WORDS = {
    "Over random": "Pareto regret divided by that of choosing at random: at 1 nothing was learned",
    **{word: meaning for metric in STANDARD for word, meaning in metric.words.items()},
    "Balls": "how many regions of contexts and arms a zooming policy had made by the end",
    "Notes": "in brackets after a policy's name: settings and states that its guarantee does not cover, or which "
    "objectives it does not learn",
}
COLUMNS = (
    Column("Over random", "regret_over_random"),
    *(column for metric in STANDARD for column in metric.columns),
    Column("Balls", "balls", 1),
)
RANKED = (  # heading, how to get it, whether less is better
    ("Regret", lambda policy: _regret(policy)[0], True),
    ("Front share", lambda policy: policy.get("front_share"), False),
    ("Bin ratio", lambda policy: policy.get("bin_ratio"), False),
    ("Local entropy", lambda policy: policy.get("local_entropy"), False),
)
RANKING = (
    "In each environment a table shows the place of each policy in each column, 1 is best, with its number below. "
    "Regret: how far its choices were from the best trade-offs, added up; less is better. Front share: how often its "
    "choice was one of the best trade-offs. Bin ratio: whether it plays all the best trade-offs equally often over the "
    "whole run. Local entropy: whether it does so in every kind of context. In these three 1 is perfect and 0 the "
    "worst. A policy that always makes the same good choice has little regret, but leaves the other good ones out; "
    "random play is fair too, but has much regret: fairness counts beside little regret only. A dash: there was "
    "nothing to measure. Differences below about three times the ± in the table of results may be chance."
)
TEXT = ("Policy", "Claim", "Radius", "What the bound says", "What it does")  # columns that are not numbers

ONE_OBJECTIVE = (
    "This environment has one objective: the best trade-offs of a context are its arms of the highest expected reward, "
    "and Pareto regret is the usual regret."
)
ABOUT = (
    "Multi-objective: it learns all objectives; the others learn one of them, the first unless told otherwise, or a "
    "weighted sum. Contextual: it looks at the context; the others play the same in every context."
)

Table = dict[str, Any]
Member = TypeVar("Member")


HOLDS = {True: '<td class="yes">yes ✓</td>', False: '<td class="no">no ✗</td>', None: "<td>not judged</td>"}


def write_report(folder: Path) -> Path:
    """Write `figures/` and `report.html` next to what a study left in a folder; gives the page's path.

    The page needs nothing else: no network, no scripts. The same results give the same bytes; how long
    anything took is left out.
    """
    folder = Path(folder)
    try:
        results = msgspec.json.decode((folder / "results.json").read_bytes(), type=dict[str, Any])
        study, environments = dict(results["study"]), dict(results["environments"])
    except OSError as error:
        raise Refused(f"folder: {str(folder)!r} has no results.json that can be read ({error.strerror})") from error
    except (msgspec.MsgspecError, KeyError, TypeError, ValueError) as error:
        raise Refused(f"folder: results.json in {str(folder)!r} is not that of a study ({error!r})") from error
    claims = results.get("claims") or []
    gallery = _Gallery(folder)
    body = [
        _introduction(study, environments),
        _policies(study),
        _claims(list(claims.values()) if isinstance(claims, dict) else claims),
    ]
    body += [_environment(label, found, study, gallery) for label, found in environments.items()]
    title = escape(f"Study: {study.get('name', 'without a name')}")
    page = f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{CSS}</style>
</head>
<body>
<header>
<h1>{title}</h1>
</header>
<main>
{"".join(body)}</main>
<footer>
<h2>Parameters</h2>
<pre>{escape(_toml(study))}</pre>
</footer>
</body>
</html>
"""
    path = folder / "report.html"
    path.write_text(page, encoding="utf-8", newline="\n")
    return path


class _Gallery:
    """Saves the figures of a study and draws them into the page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []

    def show(self, study: Table, label: str, policies: Table) -> str:
        drawings = draw_study(self.folder, study, label, policies)
        return "".join(self._show(f"{label}-{drawing.name}", drawing) for drawing in drawings)

    def _show(self, name: str, drawing: Drawing) -> str:
        plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        number = len(self.names) + 1
        self.names.append(plain if plain not in self.names else f"{plain}-{number}")
        _, svg = style.save(drawing.figure, self.folder / "figures" / self.names[-1])
        picture = style.svg_element(svg.read_text(encoding="utf-8"), prefix=f"f{number}-")
        picture = picture.replace("<svg", f'<svg role="img" aria-label="{escape(drawing.alternative)}"', 1)
        return f"<figure>\n{picture}<figcaption>{escape(drawing.caption)}</figcaption>\n</figure>\n"


def _introduction(study: Table, environments: Table) -> str:
    policies = list(dict.fromkeys(label for found in environments.values() for label in found["policies"]))
    text = (
        f"This study compares {_list(policies)} on {_list(list(environments))}. In each of {study.get('rounds', 0):,} "
        "rounds a policy sees a context, chooses an arm, and earns one reward per objective; the objectives conflict. "
        "An arm is Pareto optimal if no other arm is at least as good in every objective and better in one. A good "
        f"policy finds those arms and plays them all fairly. Number of runs of each policy: {study.get('runs', 0):,}. "
        "In each run all policies meet the same contexts and the same luck. A ± is the standard error of a mean over "
        "runs."
    )
    words = "".join(f"<div><dt>{word}</dt><dd>{meaning}</dd></div>\n" for word, meaning in WORDS.items())
    about = f"<p>{escape(study['description'])}</p>\n" if study.get("description") else ""
    ranked = any(len(found["policies"]) > 1 for found in environments.values())
    ranking = f"<h3>How to read the rankings</h3>\n<p>{RANKING}</p>\n" if ranked else ""
    return f"{about}<p>{text}</p>\n<h2>What is measured</h2>\n<dl>\n{words}</dl>\n{ranking}"


def _policies(study: Table) -> str:
    """What each policy does; nothing of those that cannot be found here."""
    answers = {True: "<td>yes</td>", False: "<td>no</td>"}
    rows: dict[str, list[str]] = {}
    for spec in study.get("policies") or []:
        member = _member("paretozoom.policies", Policy, spec["name"])
        if member is not None and member.summary.line:
            title = spec.get("label") or spec["name"]
            summary, notes = member.summary, [] if title == spec["name"] else [spec["name"]]
            line = f'<td class="text">{escape(summary.line)}</td>'
            rows[title] = [_head(title, notes), line, answers[summary.multi_objective], answers[summary.contextual]]
    if not rows:
        return ""
    heads = ["Policy", "What it does", "Multi-objective", "Contextual"]
    return f"<h2>Policies</h2>\n<p>{ABOUT}</p>\n{_table('Policies', heads, list(rows.values()))}"


def _member(package: str, base: type[Member], name: str) -> type[Member] | None:
    try:
        return find_member(package, base, name)
    except Refused:
        return None


def _claims(claims: list[Table]) -> str:
    if not claims:
        return ""
    bar = any("bar" in claim for claim in claims)
    rows = []
    for claim in claims:
        cells = [claim["paper"], claim["measured"], *([claim.get("bar", "")] if bar else [])]
        holds = HOLDS[claim["holds"]]
        rows.append([_head(claim["claim"]), *(f"<td>{escape(str(cell))}</td>" for cell in cells), holds])
    heads = ["Claim", "Paper", "Measured", *(["Accepted"] if bar else []), "Holds"]
    return f"<section>\n<h2>Claims</h2>\n{_table('Claims', heads, rows)}</section>\n"


def _environment(label: str, found: Table, study: Table, gallery: _Gallery) -> str:
    regrets = {name: _regret(policy)[0] for name, policy in found["policies"].items()}
    order = sorted(regrets, key=lambda name: (regrets[name] is None, regrets[name] or 0.0))  # unknown regret comes last
    policies = {name: found["policies"][name] for name in order}
    figures = gallery.show(study, label, found["policies"])
    names = [s["name"] for s in study.get("environments") or [] if (s.get("label") or s["name"]) == label]
    task = _member("paretozoom.environments", Task, names[0]) if names else None
    about = [escape(line_of(task))] if task is not None and line_of(task) else []
    if len({objective for p in policies.values() for objective in p.get("mean_reward") or {}}) == 1:
        about.append(ONE_OBJECTIVE)
    return (
        f"<section>\n<h2>Environment: {escape(label)}</h2>\n"
        + "".join(f"<p>{line}</p>\n" for line in about)
        + f"{_ranking(label, policies)}"
        f"<h3>Results, by regret</h3>\n{_results(label, policies)}"
        + (f'<h3>Figures</h3>\n<div class="figures">\n{figures}</div>\n' if figures else "")
        + (_theory(found["theory"], policies, study.get("rounds", 0)) if found.get("theory") else "")
        + "</section>\n"
    )


def _ranking(label: str, policies: Table) -> str:
    """Who comes first in what; nothing if there is nobody to compare with."""
    if len(policies) < 2:
        return ""
    heads, cells = ["Policy"], [[_head(name)] for name in policies]
    for head, number, less in RANKED:
        column = [number(policy) for policy in policies.values()]
        if any(entry is not None for entry in column):
            heads.append(head)
            for row, place, entry in zip(cells, _places(column, less), column, strict=True):
                row.append(_place(place, entry))
    return f"<h3>Ranking</h3>\n{_table(f'Ranking on {label}', heads, cells)}"


def _places(numbers: list[float | None], less: bool) -> list[int | None]:
    """The place of each number, from 1 for the best; equal ones, but for rounding, share a place."""
    rounded = [None if number is None else float(f"{round(number, 9):.9g}") for number in numbers]
    known = [number for number in rounded if number is not None]
    return [None if n is None else 1 + sum(k < n if less else k > n for k in known) for n in rounded]


def _place(place: int | None, number: float | None) -> str:
    if place is None or number is None:
        return _number(None)
    number = round(number, 9) + 0.0  # no -0
    shown = f"{number:,.0f}" if abs(number) >= 100 else f"{number:.3g}"
    return f"<td>{f'<b>{place}</b>' if place == 1 else place}<small>{shown}</small></td>"


def _results(label: str, policies: Table) -> str:
    columns = [column for column in COLUMNS if any(p.get(column.key) is not None for p in policies.values())]
    objectives = list(dict.fromkeys(name for p in policies.values() for name in p.get("mean_reward") or {}))
    rows = []
    for name, policy in policies.items():
        errors = policy.get("se") or {}
        rewards, reward_errors = policy.get("mean_reward") or {}, errors.get("mean_reward") or {}
        row = [_head(name, policy.get("notes") or []), _number(*_regret(policy))]
        row += [_number(policy.get(key), errors.get(key), decimals) for _, key, decimals in columns]
        row += [_number(rewards.get(objective), reward_errors.get(objective), 3) for objective in objectives]
        rows.append(row)
    heads = ["Policy", "Pareto regret", *(head for head, _, _ in columns), *(f"Mean reward, {o}" for o in objectives)]
    return _table(f"Results on {label}", heads, rows)


def _theory(theory: Table, policies: Table, rounds: int) -> str:
    text = []
    if (dimension := theory.get("dimension")) is not None:
        constant = "" if theory.get("p") is None else f" (with p = {theory['p']:.4g})"
        text.append(
            f"The estimated Pareto zooming dimension is {dimension:.2f}{constant}: N_r, how many nearly optimal "
            f"pairs of context and arm can lie r or more apart, grows about as r to the power of {-dimension:.2f}."
        )
    if (exponent := theory.get("exponent")) is not None:
        text.append(
            f"With that dimension no policy can promise regret of a lower order than T^{exponent:.3g}. "
            "Dimension and bounds rest on greedy packings, which can be smaller than the largest: they are estimates."
        )
    if (worst := theory.get("largest_gap")) is not None:
        text.append(
            f"The worst possible regret is {worst * rounds:,.0f}: the largest gap, {worst:.3g}, in every round."
        )
    if (steepness := theory.get("lipschitz")) is not None and steepness > 1 + 1e-6:
        text.append(
            f"The expected rewards change up to {steepness:.3g} times as fast as the similarity allows (Assumption 1), "
            "so the bounds are not promised here."
        )
    bounds = []
    for name, bound in (theory.get("bounds") or {}).items():
        regret = _regret(policies.get(name) or {})
        numbers = [_number(*regret), _number(bound.get("tightest")), _number(bound.get("theorem1"))]
        bounds.append([_head(name), *numbers, _verdict(bound, regret[0])])
    packings = [[_head(f"{float(r):.4g}"), _number(n, None, 0)] for r, n in (theory.get("numbers") or {}).items()]
    heads = ["Policy", "Measured regret", "Tightest bound (estimate)", "Theorem 1 (estimate)", "What the bound says"]
    return (
        f"<h3>Regret beside its bound</h3>\n<p>{_plainly(theory.get('bounds') or {}, policies)}</p>\n"
        f"<details>\n<summary>What the theory says</summary>\n<p>{escape(' '.join(text))}</p>\n"
        + (_table("Regret and bounds", heads, bounds) if bounds else "")
        + (_table("Packing numbers", ["Radius", "Balls N_r"], packings) if packings else "")
        + "</details>\n"
    )


def _plainly(bounds: Table, policies: Table) -> str:
    """What the bounds come to, in a sentence."""
    if not bounds:
        return "The paper's bound speaks of no policy that played here as it did."
    if all(bound.get("vacuous") for bound in bounds.values()):
        return "The paper's bound promises nothing in so few rounds: it is above the worst regret there can be."
    judged = [(b["tightest"], _regret(policies.get(name) or {})[0]) for name, b in bounds.items() if b.get("tightest")]
    over = any(measured is not None and measured > tightest for tightest, measured in judged)
    return f"The measured regret {'exceeds' if over else 'stays below'} the paper's bound."


def _verdict(bound: Table, measured: float | None) -> str:
    if bound.get("vacuous"):
        says = "Nothing: the bound is vacuous at this horizon, as no policy's regret could exceed it."
    elif measured is not None and bound.get("tightest") is not None and measured > bound["tightest"]:
        says = '<span class="no">The measured regret exceeds the bound.</span>'
    else:
        says = "The measured regret respects the bound."
    return f'<td class="text">{says}</td>'


def _table(name: str, heads: list[str], rows: list[list[str]]) -> str:
    kinds = ["text" if head in TEXT else "number" for head in heads]
    top = "".join(
        f'<th scope="col" class="{kind}">{escape(head)}</th>' for head, kind in zip(heads, kinds, strict=True)
    )
    body = "".join(f"<tr>{''.join(row)}</tr>\n" for row in rows)
    region = f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(name)}">'
    return f"{region}\n<table>\n<thead><tr>{top}</tr></thead>\n<tbody>\n{body}</tbody>\n</table>\n</div>\n"


def _head(text: str, notes: Sequence[str] = ()) -> str:
    more = f" <small>({escape(', '.join(notes))})</small>" if notes else ""
    return f'<th scope="row" class="text">{escape(text)}{more}</th>'


def _number(value: float | None, error: float | None = None, decimals: int | None = None) -> str:
    if value is None:
        return '<td><span aria-label="unknown">-</span></td>'
    if decimals is None:
        decimals = 0 if abs(value) >= 1000 else 1 if abs(value) >= 10 else 3
    value = round(value, decimals) + 0.0  # no -0
    if error is None or is_dust(error, value):
        return f"<td>{value:,.{decimals}f}</td>"
    shown = f"{error:,.{decimals}f}" if error >= 0.5 * 10**-decimals else f"{error:.1g}"
    return f"<td>{value:,.{decimals}f}<small>±&nbsp;{shown}</small></td>"


def _regret(policy: Table) -> tuple[float | None, float | None]:
    found = policy.get("regret") or {}
    return found.get("mean"), found.get("se")


def _list(words: list[str]) -> str:
    bold = [f"<b>{escape(word)}</b>" for word in words]
    return " and ".join([", ".join(bold[:-1]), bold[-1]] if len(bold) > 1 else bold)


def _toml(study: Table) -> str:
    """The study as TOML, for the eye: what is unset, or was measured in seconds, is left out."""
    lines = _assignments(study)
    for key, specs in study.items():
        for spec in specs if isinstance(specs, list) else []:
            lines += ["", f"[[{key}]]", *_assignments(spec)]
    return "\n".join(lines)


def _assignments(table: Table, prefix: str = "") -> list[str]:
    lines = []
    for key, value in table.items():
        if isinstance(value, dict):
            lines += _assignments(value, f"{prefix}{key}.")
        elif value in (None, "", []) or key.startswith("seconds_") or _has_tables(value):
            continue
        elif f"{prefix}{key}" != "description":  # which is at the top of the page
            lines.append(f"{prefix}{key} = {json.dumps(value, ensure_ascii=False)}")
    return lines


def _has_tables(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(entry, dict) for entry in value)
