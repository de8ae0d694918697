"""A stateful Python session that answers with what a cell prints. Needs harness.py before it."""

import contextlib
import io
import traceback

_names = {"__name__": "__main__"}


def handle(request):
    stdout, stderr = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        try:
            with TimeLimit(request["seconds"]):
                exec(compile(request["code"], "<cell>", "exec"), _names)
        except BaseException:
            traceback.print_exc()
    return {"stdout": stdout.getvalue(), "stderr": stderr.getvalue()}


channel = Channel()
channel.serve(handle)
