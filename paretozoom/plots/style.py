"""What all figures share: one look, one colour per policy, and files with the same bytes for the same figure."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paretozoom.policies import Policy
from paretozoom.registry import find_members

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito's colours, which colour-blind readers can tell apart, but for those that policies took; their yellow is
# too pale for lines.
OTHERS = ("#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
DASHES = ("solid", "dashed", "dotted", "dashdot")

LOOK: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib, so it is the same everywhere
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.edgecolor": "#555555",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.color": "#333333",
    "ytick.color": "#333333",
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "text.parse_math": False,  # a label is text, dollars and all
    "svg.fonttype": "path",
    "svg.hashsalt": "paretozoom",
}
# Dark blue is 0, yellow is 1: lightness grows all the way, and no reader needs red and green to be different.
REWARDS = ("#0b1854", "#1f4e8c", "#23888e", "#5fc065", "#fde725")
# matplotlib's settings are global; two threads must not set them at once.
_LOCK = threading.RLock()


@contextmanager
def theme() -> Iterator[None]:
    """Draw in the look of the project, whatever matplotlib was told elsewhere.

    >>> import matplotlib
    >>> with theme():
    ...     matplotlib.rcParams["font.size"]
    9.0
    """
    import matplotlib
    import matplotlib.style

    with _LOCK, matplotlib.rc_context():
        matplotlib.style.use(["default", LOOK])
        yield


def colours(labels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """(colour, dash) of each label: some policies have their own, the rest take turns in the order given.

    >>> colours(["Random", "mine", "PCZ"])
    {'Random': ('#7f7f7f', 'solid'), 'mine': ('#009e73', 'solid'), 'PCZ': ('#0072b2', 'solid')}
    """
    policies = find_members("paretozoom.policies", Policy).items()
    own = {_letters(name): policy.summary.colour for name, policy in policies}
    found: dict[str, tuple[str, str]] = {}
    turn = 0
    for label in labels:
        known = own.get(_letters(label))
        if known is not None and (known, "solid") not in found.values():
            found[label] = known, "solid"
        else:
            found[label] = OTHERS[turn % len(OTHERS)], DASHES[turn // len(OTHERS) % len(DASHES)]
            turn += 1
    return found


def _letters(label: str) -> str:
    """What is left of a label when spelling does not matter."""
    return re.sub(r"[^a-z0-9]", "", label.lower())


def blank(width: float, height: float) -> Figure:
    """An empty figure of a size in inches, which belongs to no global list of figures."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08))


def settle(figure: Figure) -> Figure:
    """Fix where everything stands, so that saving a figure twice cannot move it."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    return figure


def svg_text(figure: Figure) -> str:
    """The figure as SVG, without a date or the name of the program that drew it."""
    buffer = io.StringIO()
    with theme():
        nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(buffer, format="svg", metadata=nothing)
    return buffer.getvalue()


def svg_element(svg: str, prefix: str) -> str:
    """A figure in SVG as an element of an HTML page; the prefix keeps its ids apart from those of other figures."""
    text = re.sub(r"<!--.*?-->", "", svg, flags=re.DOTALL)
    text = text[text.index("<svg") :]
    element, rest = text.split(">", 1)
    element = re.sub(r' (xmlns(:\w+)?|version)="[^"]*"', "", element)
    return element + ">" + re.sub(r'( id="|url\(#|href="#)', rf"\g<1>{prefix}", rest)


def save(figure: Figure, path: Path) -> tuple[Path, Path]:
    """Write `path`.png and `path`.svg; gives both paths. The same figure gives the same bytes."""
    path = Path(path)
    png, svg = path.with_name(f"{path.name}.png"), path.with_name(f"{path.name}.svg")
    path.parent.mkdir(parents=True, exist_ok=True)
    with theme():
        figure.savefig(png, format="png", dpi=150, metadata={"Software": None})
    svg.write_text(svg_text(figure), encoding="utf-8", newline="\n")
    return png, svg
