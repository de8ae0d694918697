"""Runs a checker of a task on a text. Needs harness.py before it."""

import re


def handle(request):
    try:
        with TimeLimit(request["seconds"]):
            code = re.sub(r"^(?=check_following\()", "def ", request["code"], flags=re.MULTILINE)
            names = {"__name__": "__checker__"}
            exec(compile(code, "<checker>", "exec"), names)
            value = names["check_following"](request["value"])
            return {"text": value if isinstance(value, str) else None, "isNone": value is None, "isTrue": bool(value)}
    except BaseException as error:
        return {"error": f"{type(error).__name__}: {error}"[:500]}


channel = Channel()
channel.serve(handle)
