"""A stateful Python session with few builtins. Needs harness.py before it."""

import contextlib
import io
import re

LONGEST_OUTPUT = 1 << 20
# Imported when code first mentions them: that takes most of a second, and few sessions need all.
_PRELOADED = {"np": "numpy", "numpy": "numpy", "scipy": "scipy", "pd": "pandas", "pandas": "pandas", "math": "math"}
# A last line that begins so is a statement, also where it only looks like one.
_STATEMENTS = tuple("print import from def class if for while try with".split())

_globals = {}
_locals = {}


def preload(code, names):
    for name in names:
        module = _PRELOADED[name]
        if name not in _globals and re.search(rf"\b{name}\b", code):
            with contextlib.suppress(ImportError):
                _globals[name] = __import__(module)


def last_value(code):
    """The text of the last line's value; None where it has none."""
    line = code.strip().split("\n")[-1].strip()
    if not line or line.startswith(_STATEMENTS):
        return None
    try:
        return str(eval(line, _globals, _locals))
    except TimeoutException:
        raise
    except Exception:
        return None


def reply(success, stdout="", stderr="", error_message=None, result=None):
    return {
        "success": success,
        "stdout": stdout[:LONGEST_OUTPUT],
        "stderr": stderr[:LONGEST_OUTPUT],
        "error_message": error_message,
        "result": result,
    }


def refusal(code, patterns):
    """Why code is not run: a syntax error, or one of the patterns; None if it may run."""
    try:
        ast.parse(code)
    except SyntaxError as error:
        return f"Syntax error: {error}"
    except Exception as error:
        return f"Validation error: {error}"
    found = (pattern for pattern in patterns if re.search(pattern, code, re.IGNORECASE))
    return next((f"Code contains potentially dangerous operation: {pattern}" for pattern in found), None)


def handle(request):
    code = request["code"]
    if "refused" in request and (reason := refusal(code, request["refused"])):
        return reply(False, error_message=reason)
    _globals.setdefault("__builtins__", {name: getattr(builtins, name) for name in request["builtins"]})
    preload(code, request["modules"])
    stdout, stderr = io.StringIO(), io.StringIO()
    try:
        with TimeLimit(request["seconds"]), contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
            exec(code, _globals, _locals)
            printed = stdout.getvalue()
            result = last_value(code)
        return reply(True, printed, stderr.getvalue(), None, result)
    except TimeoutException:
        return reply(False, error_message="code timed-out")
    except BaseException as error:
        return reply(False, error_message=str(error))


channel = Channel()
channel.serve(handle)
