"""Put three figures of `paretozoom reproduce` side by side: the picture in the README.

Run: python docs/images/overview.py [folder of the study]
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

HEIGHT = 520


def main(folder: str = "results/reproduce") -> None:
    """Read the figures of a study and write overview.png beside this file."""
    figures = Path(folder) / "figures"
    names = ["paper-regret", "paper-bins", "paper-partition-pcz"]
    pictures = [Image.open(figures / f"{name}.png").convert("RGB") for name in names]
    scaled = [p.resize((round(p.width * HEIGHT / p.height), HEIGHT), Image.Resampling.LANCZOS) for p in pictures]
    whole = Image.new("RGB", (sum(p.width for p in scaled), HEIGHT), "white")
    left = 0
    for picture in scaled:
        whole.paste(picture, (left, 0))
        left += picture.width
    whole.quantize(128).save(Path(__file__).with_suffix(".png"), optimize=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
