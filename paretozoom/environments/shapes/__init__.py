"""What environments are made of: luck, noise, and shapes of rewards."""
