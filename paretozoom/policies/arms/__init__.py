"""What policies with finitely many arms share, and the one that draws them at random."""
