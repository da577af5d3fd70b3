"""The one writer: groups, commits, snapshots, and what is read when a service starts."""
