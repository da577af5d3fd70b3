"""The experiments as they are served, and the one writer: groups, commits, snapshots."""
