"""What parts and numbers of ParetoZoom are worth."""
