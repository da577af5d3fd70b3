"""The command line, and what uses both the service and its clients."""
