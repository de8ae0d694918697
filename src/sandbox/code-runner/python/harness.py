"""Runs in a sandbox before the program that uses it. Requests and replies are one JSON text per line.

The channel is moved away from the standard streams first, so that untrusted code does not read or write it by accident.
"""

import ast
import builtins
import importlib
import json
import os
import shutil
import signal
import subprocess
import sys


class Channel:
    def __init__(self):
        self._requests = os.fdopen(os.dup(0), "rb")
        self._replies = os.fdopen(os.dup(1), "wb")
        self._dumps, self._loads = json.dumps, json.loads
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        sys.stdin = open(0, encoding="utf-8", closefd=False)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)

    def receive(self):
        """The next request; None at the end."""
        line = self._requests.readline()
        return self._loads(line) if line else None

    def send(self, reply):
        self._replies.write(self._dumps(reply).encode() + b"\n")
        self._replies.flush()

    def close(self):
        self._requests.raw.close()
        self._replies.raw.close()

    def serve(self, handle):
        """Answers requests until the end of the input."""
        self.send({"ready": True})
        while (request := self.receive()) is not None:
            self.send(handle(request))


class TimeoutException(Exception):
    """A test exceeded its time limit."""


def _time_is_up(_signal, _frame):
    raise TimeoutException


class TimeLimit:
    """Raises TimeoutException in the body after the given seconds."""

    def __init__(self, seconds):
        self._seconds = seconds
        self._setitimer = signal.setitimer

    def __enter__(self):
        signal.signal(signal.SIGALRM, _time_is_up)
        self._setitimer(signal.ITIMER_REAL, self._seconds)

    def __exit__(self, *_):
        self._setitimer(signal.ITIMER_REAL, 0)


_REMOVED = {
    os: (
        "kill system putenv remove removedirs rmdir fchdir setuid fork forkpty killpg rename renames truncate replace "
        "unlink fchmod fchown chmod chown chroot lchflags lchmod lchown getcwd chdir"
    ),
    shutil: "rmtree move chown",
    subprocess: "Popen",
    builtins: "quit help",
}


def remove_dangerous_functions():
    """Removes functions as the original does. The protection is the sandbox, not this."""
    for module, names in _REMOVED.items():
        for name in names.split():
            setattr(module, name, None)
    for name in ("ipdb", "joblib", "resource", "psutil", "tkinter"):
        sys.modules[name] = None


def import_modules_of(code):
    """Imports what the program imports. Some modules, such as numpy, need functions that are removed afterwards."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except Exception:
        return
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    for name in names:
        try:
            importlib.import_module(name)
        except Exception:
            pass  # The program meets the same error, where it can handle it.


def raise_stack_limit():
    """Lets the stack grow to the limit of the sandbox, because solutions often use deep recursion."""
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = 4 << 30
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (soft, hard))
    del sys.modules["resource"]
