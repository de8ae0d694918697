"""Notices code that changes the parts of Python that the verdict of unit tests depends on.

Tests and the code under test share a process, so this is no protection against code that is written against it. It runs with
Python 3.6 and later, because it also runs in images of old projects.
"""

import builtins
import secrets
import sys
import types
import unittest
import unittest.mock
import warnings


# Methods that decide how Python finds other methods.
_LOOKUPS = ("__getattribute__", "__getattr__", "__init_subclass__", "__class__", "__new__")


class Forged(Exception):
    """The code under test tries to decide its own verdict."""


class Guard:
    def __init__(self):
        self._modules = {name: module for name, module in sys.modules.items() if name.split(".")[0] == "unittest"}
        self._saved = []
        self.watch(builtins)
        for module in self._modules.values():
            self.watch(module)
            for value in list(vars(module).values()):
                if isinstance(value, type) and value.__module__ == module.__name__:
                    self.watch(value)

    def watch(self, owner):
        methods = (property, staticmethod, classmethod)
        values = {name: value for name, value in vars(owner).items() if callable(value) or isinstance(value, methods)}
        codes = {name: value.__code__ for name, value in values.items() if isinstance(value, types.FunctionType)}
        self._saved.append((owner, values, codes))

    def check(self):
        """Raises Forged if something has changed."""
        if sys.gettrace() is not None or sys.getprofile() is not None:
            raise Forged("the program traces its tests")
        for name, module in self._modules.items():
            if sys.modules.get(name) is not module:
                raise Forged("the program replaces " + name)
        for owner, values, codes in self._saved:
            now = vars(owner)
            for name, value in values.items():
                if now.get(name, self) is not value or (name in codes and value.__code__ is not codes[name]):
                    raise Forged("the program changes {}.{}".format(owner.__name__, name))
            for name in _LOOKUPS:
                if isinstance(owner, type) and name in now and name not in values:
                    raise Forged("the program adds {}.{}".format(owner.__name__, name))

    def start_test(self, test):
        self._class = type(test)

    def check_test(self, test):
        """After a test: it may not have got another class, or assertions of its own."""
        self.check()
        if type(test) is not self._class:
            raise Forged("the program changes the class of a test")
        for name in vars(test):
            # Tests may have values of their own under other names, such as `id`.
            if name.startswith(("assert", "fail", "_")) and callable(getattr(unittest.TestCase, name, None)):
                raise Forged("the program changes " + name)


def refuse_forged_values(value, depth=3, allowed=(), file=None):
    """Raises Forged for a value, or one in it, that equals values it cannot know. Classes of `file` may have such values."""
    if type(value) in (list, tuple, set, frozenset, dict) and depth > 0:
        items = list(value) + list(value.values()) if type(value) is dict else list(value)
        for item in items[:1000]:
            if not any(item is other for other in allowed):
                refuse_forged_values(item, depth - 1, allowed, file)
    if type(type(value)) is type and type(value).__module__ == "builtins":
        return
    if file is not None and getattr(getattr(type(value).__eq__, "__code__", None), "co_filename", None) == file:
        return
    text, number = secrets.token_hex(8), secrets.randbits(60)
    unknown = (object(), number, number + 0.5, text, [number], (text,), {text: number}, {number})
    different = (0, 1, 2, 3, 5, 6, 7, 10, 100, 0.5, "", "a", (), [], None)
    with warnings.catch_warnings():
        # Comparisons of arrays with texts warn, and tests may count warnings.
        warnings.simplefilter("ignore")
        forged = any(_equal(value, each) for each in unknown) or sum(_equal(value, each) for each in different) > 1
    if forged:
        raise Forged("the program returns a value that equals everything")


def _equal(value, other):
    try:
        return (value == other) is True or (other == value) is True
    except Exception:
        return False
