"""Values as text, for processes that do not trust each other: reading a text cannot run code of its writer."""

import collections.abc
import decimal
import fractions
import itertools

LONGEST_ITERATOR = 1_000_000
sys.set_int_max_str_digits(0)


class Other:
    """A value that has no text. It equals nothing."""

    def __init__(self, name):
        self._name = name

    def __repr__(self):
        return f"<{self._name}>"


def to_text(value):
    return json.dumps(_write(value))


def from_text(text):
    return _read(json.loads(text))


def _write(value):
    if value is None or isinstance(value, (bool, str)):
        return value
    for kind in (int, float):
        if isinstance(value, kind):
            return kind(value)
    if isinstance(value, list):
        return [_write(item) for item in value]
    if isinstance(value, dict):
        return {"dict": [[_write(key), _write(item)] for key, item in value.items()]}
    for kind in (tuple, set, frozenset):
        if isinstance(value, kind):
            return {kind.__name__: [_write(item) for item in value]}
    if isinstance(value, collections.abc.KeysView):
        return {"set": [_write(item) for item in value]}
    if isinstance(value, complex):
        return {"complex": [value.real, value.imag]}
    if isinstance(value, (bytes, bytearray)):
        return {type(value).__name__: value.hex()}
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    if isinstance(value, (decimal.Decimal, fractions.Fraction)):
        return {type(value).__name__: str(value)}
    if hasattr(value, "dtype") and getattr(value, "ndim", None) == 0:
        return _write(value.item())
    if isinstance(value, collections.abc.Iterator):
        return {"iterator": [_write(item) for item in itertools.islice(value, LONGEST_ITERATOR)]}
    return {"other": type(value).__name__}


_READ = {
    "dict": lambda content: {_read(key): _read(value) for key, value in content},
    "tuple": lambda content: tuple(map(_read, content)),
    "set": lambda content: set(map(_read, content)),
    "frozenset": lambda content: frozenset(map(_read, content)),
    "complex": lambda content: complex(*content),
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "range": lambda content: range(*content),
    "Decimal": decimal.Decimal,
    "Fraction": fractions.Fraction,
    "iterator": lambda content: iter([_read(item) for item in content]),
    "other": lambda content: Other(content),
}


def _read(data):
    if isinstance(data, list):
        return [_read(item) for item in data]
    if isinstance(data, dict):
        ((kind, content),) = data.items()
        return _READ[kind](content)
    return data
