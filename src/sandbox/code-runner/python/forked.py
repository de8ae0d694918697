"""Runs untrusted code in a child process that cannot reach this one. Needs harness.py before it; `runGuarded` asks it."""

import ctypes
import functools
import secrets
import select
import time
import types

GRACE_SECONDS = 3
PR_SET_DUMPABLE = 4


class Control(BaseException):
    """Raised at the end of each call of the function in a control run."""


def without_result(function):
    """The function for a control run: it does its work, and then fails."""

    @functools.wraps(function)
    def wrapper(*arguments, **keywords):
        wrapper.called = True
        function(*arguments, **keywords)
        raise Control

    wrapper.called = False
    return wrapper


def serve_from_child(report_of, with_control=False):
    """Answers each request with the report that `report_of` makes in a child.

    `with_control`: after a pass, a second run in another child gets `control: True` and uses `without_result`, so each call
    fails at its end. Tests that pass then too do not depend on what the function returns: the program has changed them, or
    writes the report itself.
    """
    channel = Channel()
    # The child may not open the memory and the descriptors of this process.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)
    channel.serve(lambda request: _reply(channel, report_of, request, with_control))


def _reply(channel, report_of, request, with_control):
    nonce = {"nonce": request.pop("nonce")}
    started = time.monotonic()
    reply = _ask_child(channel, report_of, {**request, "control": False})
    if with_control and reply.get("report", {}).get("status") == "pass":
        seconds = min(time.monotonic() - started + 1, request["seconds"])
        control = _ask_child(channel, report_of, {**request, "control": True, "seconds": seconds}).get("report", {})
        if control.get("status") == "pass" and control.get("called", True):
            details = {"reason": "the tests pass whatever the function returns"}
            reply = {"report": {"status": "fail", "details": details}}
    return {**nonce, **reply}


def _ask_child(channel, report_of, request):
    token = secrets.token_bytes(16)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        channel.close()
        os.close(reader)
        os.setsid()
        # The program does not get the functions of this file by name.
        sys.modules["__main__"] = types.ModuleType("__main__")
        _in_child(report_of, request, token, open(writer, "wb", buffering=0).write, json.dumps, os._exit)
    os.close(writer)
    report = _read_all(reader, time.monotonic() + request["seconds"] + GRACE_SECONDS)
    os.close(reader)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if report is None:
        return {"ended": "timeout"}
    if not report.startswith(token):
        return {"ended": "exit"}
    return {"report": json.loads(report[len(token) :])}


def _in_child(report_of, request, token, write, dumps, end):
    """The functions are arguments because the program may replace them."""
    try:
        write(token + dumps(report_of(request)).encode())
    finally:
        end(0)


def _read_all(descriptor, deadline):
    """What was written to a pipe until its end; None if it did not end in time."""
    chunks = []
    while select.select([descriptor], [], [], max(deadline - time.monotonic(), 0))[0]:
        if not (chunk := os.read(descriptor, 1 << 16)):
            return b"".join(chunks)
        chunks.append(chunk)
    return None
