"""Prices in cents."""


def parse_price(text):
    """Cents of a price such as "3.50" or "7"."""
    whole, _, cents = text.strip().partition(".")
    return int(whole) * 100 + int(cents or 0)


def format_price(cents):
    """A price as text, always with two digits behind the point."""
    return f"{cents // 100}.{cents % 100}"


def discounted(cents, percent):
    """The price after a discount, rounded down to whole cents."""
    return cents - cents * percent // 10
