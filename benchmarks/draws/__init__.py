"""The comparison on tasks drawn at random: who plays, one run, what the runs say, and the page."""
