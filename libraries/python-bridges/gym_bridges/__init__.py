"""Servers around Python environment libraries, for `entrypoint: app.py`."""
