"""Prices, carts and receipts of a small shop."""
