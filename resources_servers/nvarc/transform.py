"""Runs `transform` of a program on a grid, with few builtins and imports. Needs harness.py before it."""

import math

_BANNED = set(
    "os sys subprocess socket pickle threading asyncio multiprocessing shutil pathlib io importlib ctypes signal "
    "builtins inspect gc tempfile glob http urllib requests code codeop pty resource".split()
)
_REMOVED = set(
    "open input dir globals locals vars eval exec compile breakpoint help exit quit memoryview license credits "
    "copyright".split()
)
_import = builtins.__import__


def guarded_import(name, *arguments, **keywords):
    if name.split(".")[0] in _BANNED:
        raise ImportError(f"{name} may not be imported")
    return _import(name, *arguments, **keywords)


def visible_builtins():
    names = {name: value for name, value in vars(builtins).items() if not name.startswith("_") and name not in _REMOVED}
    return {**names, "__import__": guarded_import}


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
            namespace = {"__builtins__": visible_builtins(), "__name__": "solution"}
            exec(request["code"], namespace)
            return {"grid": as_grid(namespace["transform"](request["input"]))}
    except BaseException as error:
        return {"grid": None, "error": repr(error)}


channel = Channel()
channel.serve(handle)
