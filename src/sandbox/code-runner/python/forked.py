"""Runs untrusted code in a child process that cannot reach this one. Needs harness.py before it; `runGuarded` asks it."""

import ctypes
import secrets
import select
import time

GRACE_SECONDS = 3
PR_SET_DUMPABLE = 4


def serve_from_child(report_of):
    """Answers each request with the report that `report_of` makes in a child."""
    channel = Channel()
    # The child may not open the memory and the descriptors of this process.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)
    channel.serve(lambda request: _ask_child(channel, report_of, request))


def _ask_child(channel, report_of, request):
    nonce = {"nonce": request.pop("nonce")}
    token = secrets.token_bytes(16)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        channel.close()
        os.close(reader)
        os.setsid()
        _in_child(report_of, request, token, open(writer, "wb", buffering=0).write, json.dumps, os._exit)
    os.close(writer)
    report = _read_all(reader, time.monotonic() + request["seconds"] + GRACE_SECONDS)
    os.close(reader)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if report is None:
        return {**nonce, "ended": "timeout"}
    if not report.startswith(token):
        return {**nonce, "ended": "exit"}
    return {**nonce, "report": json.loads(report[len(token) :])}


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
