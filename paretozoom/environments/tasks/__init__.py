"""The environments: one file each, or one for a small family."""
