"""ParetoZoom."""
