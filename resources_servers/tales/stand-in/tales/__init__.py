"""Stands in for TALES in the tests."""
