"""``python -m paretozoom`` is the command line."""

from paretozoom.cli import main

main()
