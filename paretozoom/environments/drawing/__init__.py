"""What tasks drawn at random are made of: contexts, means, and the problem that shows them."""
