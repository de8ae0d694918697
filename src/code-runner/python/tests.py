"""Runs the unit tests of a program by the rules of LiveCodeBench. The text of harness.py comes before this file."""

import ast
import io
import time
import types

_STAR_MODULES = (
    "string re datetime collections heapq bisect copy math random statistics itertools functools operator io sys json "
    "builtins typing"
).split()
# builtins and typing are only star-imported.
_PLAIN_MODULES = _STAR_MODULES[:-2]
PREAMBLE = "\n".join(
    [f"from {name} import *" for name in _STAR_MODULES]
    + [f"import {name}" for name in _PLAIN_MODULES]
    + ["sys.setrecursionlimit(50000)", ""]
)
LONGEST_SHOWN = 300
LONGEST_OUTPUT = 16 << 20


def shown(value):
    text = value if isinstance(value, str) else str(value)
    if len(text) <= LONGEST_SHOWN:
        return text
    half = LONGEST_SHOWN // 2
    return f"{text[:half]}...(truncated) ...{text[-half:]}"


def without_main_guard(code):
    """Replaces a final `if __name__ == '__main__':` by its body."""
    try:
        body = ast.parse(code).body
        last = body[-1]
        if isinstance(last, ast.If) and ast.unparse(last.test) == "__name__ == '__main__'":
            return ast.unparse(body[:-1]) + "\n" + ast.unparse(last.body)
    except Exception:
        pass
    return code


def as_function(code):
    """Moves everything but imports into one function, so that the program can run repeatedly."""
    try:
        body = ast.parse(code).body
        imports = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
        rest = [node for node in body if not isinstance(node, (ast.Import, ast.ImportFrom))]
        no_arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        function = ast.FunctionDef(
            name="wrapped_function", args=no_arguments, body=rest, decorator_list=[], lineno=-1
        )
        return "\n".join([PREAMBLE, ast.unparse(imports), ast.unparse(function)])
    except Exception:
        return code


def load(code, seconds):
    """The namespace of a program: an instance of its class Solution if the text contains one, otherwise the module."""
    module = types.ModuleType("tmp_sol", "")
    with TimeLimit(seconds):
        exec(code, module.__dict__)
        return module.Solution() if "class Solution" in code else module


class InputBytes:
    def __init__(self, text):
        self._bytes = text.encode()

    def read(self, *_):
        return self._bytes

    def readline(self, *_):
        return self._bytes.split(b"\n")[0] + b"\n"


class Input:
    """The standard input of one test. Other operations fail, as in the original."""

    def __init__(self, text):
        self._text = text
        self._file = io.StringIO(text)
        self._lines = iter(text.split("\n"))
        self.buffer = InputBytes(text)

    def read(self, *_):
        return self._text

    def readline(self, *_):
        return next(self._lines)

    def readlines(self, *_):
        return self._text.split("\n")

    def __getattr__(self, name):
        return getattr(self._file, name)


class OpenedInput(io.StringIO):
    """The result of open() for every file: reads return the input, and writes are discarded."""

    def write(self, _text):
        return None

    def close(self):
        return None


class StdinTests:
    def __init__(self, code, seconds):
        self._seconds = seconds
        program = load(as_function(without_main_guard(code)), seconds)
        self._run = program.wrapped_function

    def run(self, request):
        """Returns the output of the program for one input. The verdict is made outside the sandbox."""
        text = request["input"]
        output = io.StringIO()
        output.close = lambda *_: 1
        saved = sys.stdin, sys.stdout, builtins.open
        sys.stdin, sys.stdout, builtins.open = Input(text), output, lambda *_, **__: OpenedInput(text)
        started = time.monotonic()
        try:
            with TimeLimit(self._seconds):
                try:
                    self._run()
                except SystemExit:
                    pass
        except Exception as error:
            return failure(error)
        finally:
            seconds = time.monotonic() - started
            sys.stdin, sys.stdout, builtins.open = saved
        return {"output": output.getvalue()[:LONGEST_OUTPUT], "seconds": seconds}


class CallTests:
    def __init__(self, code, seconds, function_name, inputs, outputs):
        self._seconds = seconds
        program = load(f"{PREAMBLE}\n\n{code}", seconds)
        self._function = getattr(program, function_name, None)
        if self._function is None:
            raise TypeError(f"the program has no function {function_name!r}")
        self._arguments = [[json.loads(line) for line in text.split("\n")] for text in inputs]
        self._expected = [json.loads(text) for text in outputs]

    def run(self, request):
        arguments, expected = self._arguments[request["index"]], self._expected[request["index"]]
        about = {"expected": shown(expected)}
        started = time.monotonic()
        try:
            with TimeLimit(self._seconds):
                actual = self._function(*arguments)
            seconds = time.monotonic() - started
            if isinstance(actual, tuple):
                actual = list(actual)
            if agree(actual, expected):
                return {"equal": True, "seconds": seconds}
            return {"equal": False, "output": shown(actual), "inputs": shown(arguments), **about}
        except Exception as error:
            return {**failure(error), "inputs": shown(arguments), **about}


def agree(actual, expected):
    if actual == expected:
        return True
    try:
        if json.dumps(actual) == json.dumps(expected):
            return True
    except Exception:
        pass
    try:
        first, second = float(actual), float(expected)
        return abs(first - second) <= 1e-8 + 1e-5 * abs(second)
    except Exception:
        return False


def failure(error):
    text = repr(error)
    return {"timeout": "timeoutexception" in text.lower(), "error": text}


tests = None


def handle(request):
    global tests
    if "code" not in request:
        return tests.run(request)
    try:
        if request["fn_name"] is None:
            tests = StdinTests(request["code"], request["seconds"])
        else:
            tests = CallTests(
                request["code"], request["seconds"], request["fn_name"], request["inputs"], request["outputs"]
            )
        return {"loaded": True}
    except Exception as error:
        return {"loaded": False, "error": str(error)}


channel = Channel()
raise_stack_limit()
remove_dangerous_functions()
channel.serve(handle)
