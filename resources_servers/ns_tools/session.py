"""A Python session like a notebook: a cell answers with what it prints and the value of its last expression. Needs harness.py before it."""

import ast
import contextlib
import io
import pprint
import traceback

_names = {"__name__": "__main__"}


def run(code):
    tree = ast.parse(code, "<cell>")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), _names)
    if last is None:
        return
    value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), _names)
    if value is not None:
        _names["_"] = value
        print(pprint.pformat(value))


def handle(request):
    output = io.StringIO()
    status = "completed"
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            with TimeLimit(request["seconds"]):
                run(request["code"])
        except TimeoutException:
            status = "timeout"
        except BaseException:
            traceback.print_exc()
    return {"status": status, "output": output.getvalue()}


channel = Channel()
channel.serve(handle)
