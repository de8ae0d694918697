"""Runs `transform` of a program on a grid, with few builtins and imports. Needs harness.py before it."""

import math

_BANNED = set(
    "os subprocess shutil pathlib builtins socket urllib requests http ftplib smtplib pickle shelve marshal importlib "
    "pkgutil ctypes multiprocessing threading signal tempfile fileinput codecs pty fcntl resource syslog asyncio "
    "concurrent".split()
)
_REMOVED = set("open input breakpoint help license credits copyright exit quit vars dir globals locals".split())
_import = builtins.__import__


def guarded_import(name, *arguments, **keywords):
    if name.split(".")[0] in _BANNED:
        raise ImportError(f"{name} may not be imported")
    return _import(name, *arguments, **keywords)


def visible_builtins():
    """Names with an underscore are missing, as in the original: a program cannot define classes."""
    names = {name: value for name, value in vars(builtins).items() if not name.startswith("_") and name not in _REMOVED}
    return {**names, "__import__": guarded_import, "__name__": "__main__", "__doc__": None}


def as_cell(value):
    if isinstance(value, float) and not (math.isfinite(value) and value == int(value)):
        raise ValueError(f"{value} is not a colour")
    return int(value)


def as_grid(value):
    """A rectangular list of lists of integers; None where the value is none."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)):
        return None
    rows = [row.tolist() if hasattr(row, "tolist") else row for row in value]
    if not rows or not all(isinstance(row, (list, tuple)) and row for row in rows):
        return None
    grid = [[as_cell(cell) for cell in row] for row in rows]
    return grid if len({len(row) for row in grid}) == 1 else None


def handle(request):
    try:
        with TimeLimit(request["seconds"]):
            namespace = {"__builtins__": visible_builtins()}
            exec(request["code"], namespace)
            return {"grid": as_grid(namespace["transform"](request["input"]))}
    except BaseException as error:
        return {"grid": None, "error": repr(error)}


channel = Channel()
raise_stack_limit()
channel.serve(handle)
