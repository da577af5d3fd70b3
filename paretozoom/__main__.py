"""``python -m paretozoom`` is the command line."""

from paretozoom.commands.cli import main

main()
