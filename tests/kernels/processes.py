"""Scripts in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def run(script: str, folder: Path | None = None, **environment: str) -> Any:
    """What a script, typed in rather than kept in a file, prints as JSON; what it imports is looked for in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
