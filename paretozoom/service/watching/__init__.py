"""What can be measured of a running service."""
