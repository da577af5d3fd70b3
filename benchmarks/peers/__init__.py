"""What users would pick today, behind one protocol: a file for each, named in `rivals.py`."""
