"""Runs the unit tests of a program by the rules of LiveCodeBench. The text of harness.py comes before this file."""

import atexit
import gc
import tempfile
import threading
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
    + ["sys.setrecursionlimit(50000)", "sys.set_int_max_str_digits(1 << 20)", ""]
)
LONGEST_SHOWN = 300
LONGEST_OUTPUT = 16 << 20
LONGEST_ERROR = 10_000


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
    """Moves everything but imports into one function, so that loading the program runs nothing but its imports."""
    body = ast.parse(code).body
    imports = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom))]
    rest = [node for node in body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    no_arguments = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = ast.FunctionDef(name="wrapped_function", args=no_arguments, body=rest, decorator_list=[], lineno=-1)
    return "\n".join([PREAMBLE, ast.unparse(imports), ast.unparse(function)])


def load(code, seconds):
    """The namespace of a program: an instance of its class Solution if the text contains one, otherwise the module."""
    module = types.ModuleType("tmp_sol", "")
    with TimeLimit(seconds):
        exec(code, module.__dict__)
        return module.Solution() if "class Solution" in code else module


def open_or_input(file, mode="r", *arguments, **options):
    """Programs that read `input.txt` get the input, as in the original."""
    try:
        return real_open(file, mode, *arguments, **options)
    except FileNotFoundError:
        return real_open("/dev/stdin", mode, *arguments, **options)


class StdinTests:
    """Runs the program for each input in a process of its own, with files as its standard streams."""

    def __init__(self, code, seconds):
        self._seconds = seconds
        self._run = load(as_function(without_main_guard(code)), seconds).wrapped_function
        self._fork, self._exit, self._unlink = fork, os._exit, unlink
        gc.freeze()

    def run(self, request):
        """Returns the output of the program for one input. The verdict is made outside the sandbox."""
        stdin = self._file_with(request["input"].encode("utf-8", "surrogatepass"))
        output, stdout = os.pipe()
        report, status = os.pipe()
        child = self._fork()
        if child == 0:
            try:
                channel.close()
                os.dup2(stdin, 0)
                os.dup2(stdout, 1)
                for descriptor in (stdin, stdout, output, report):
                    os.close(descriptor)
                builtins.open = open_or_input
                os.write(status, json.dumps(self._run_once()).encode())
            finally:
                self._exit(0)
        for descriptor in (stdin, stdout, status):
            os.close(descriptor)
        chunks, size = [], 0
        while chunk := os.read(output, 1 << 16):
            if size < LONGEST_OUTPUT:
                chunks.append(chunk)
            size += len(chunk)
        os.waitpid(child, 0)
        result = os.read(report, 1 << 16)
        for descriptor in (output, report):
            os.close(descriptor)
        if not result:
            return {"ended": True}
        result = json.loads(result)
        if "error" in result:
            return result
        return {**result, "output": b"".join(chunks)[:LONGEST_OUTPUT].decode("utf-8", "replace")}

    def _file_with(self, content):
        """The descriptor of a file without a name."""
        descriptor, path = tempfile.mkstemp()
        self._unlink(path)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor

    def _run_once(self):
        """Runs the program and what Python does at its end: waits for threads and writes what is left in buffers."""
        stdout, dumps = sys.stdout, json.dumps
        started = time.monotonic()
        try:
            with TimeLimit(self._seconds):
                try:
                    self._run()
                except SystemExit:
                    pass
                threading._shutdown()
                atexit._run_exitfuncs()
        except Exception as error:
            return failure(error)
        seconds = time.monotonic() - started
        gc.collect()
        for stream in (sys.stdout, stdout):
            try:
                stream.flush()
            except Exception:
                pass
        return {"seconds": seconds}


class CallTests:
    """Calls a function. The expected values are not here; the returned values are compared outside the sandbox."""

    def __init__(self, code, seconds, function_name, inputs):
        self._seconds = seconds
        self._dumps = json.dumps
        program = load(f"{PREAMBLE}\n\n{code}", seconds)
        self._function = getattr(program, function_name, None)
        if self._function is None:
            raise TypeError("cannot unpack non-iterable NoneType object")
        self._arguments = [[json.loads(line) for line in text.split("\n")] for text in inputs]

    def run(self, request):
        arguments = self._arguments[request["index"]]
        started = time.monotonic()
        try:
            with TimeLimit(self._seconds):
                actual = self._function(*arguments)
            seconds = time.monotonic() - started
            if isinstance(actual, tuple):
                actual = list(actual)
            about = {"output": shown(actual), "inputs": shown(arguments)}
            return {"seconds": seconds, **self._texts(actual), **about}
        except Exception as error:
            return {**failure(error), "inputs": shown(arguments)}

    def _texts(self, value):
        """The value as JSON, if Python can write it; and as JSON of what equals it, if that is possible."""
        texts = {}
        try:
            texts["json"] = self._dumps(value)
        except Exception:
            pass
        try:
            texts["equal"] = self._dumps(plain(value))
        except Incomparable:
            pass
        except RecursionError:
            pass
        return texts


class Incomparable(Exception):
    """A value that equals no JSON value."""


def plain(value):
    """The JSON value that a value equals. Tuples and sets equal none; numbers of libraries and fractions equal numbers."""
    if value is None or isinstance(value, (bool, str, int, float)):
        return value
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise Incomparable
        return {key: plain(item) for key, item in value.items()}
    if type(value).__name__ == "ndarray":
        if value.size != 1:
            raise ValueError("The truth value of an array with more than one element is ambiguous.")
        return plain(value.tolist())
    for convert in (int, float):
        try:
            number = convert(value)
            if not isinstance(value, (bytes, bytearray)) and number == value:
                return number
        except Exception:
            pass
    raise Incomparable


def failure(error):
    text = repr(error)
    return {"timeout": "timeoutexception" in text.lower(), "error": text[:LONGEST_ERROR]}


tests = None


def handle(request):
    global tests
    if "code" not in request:
        return tests.run(request)
    code, seconds = request["code"], request["seconds"]
    try:
        with TimeLimit(seconds):
            import_modules_of(code)
        remove_dangerous_functions()
        if request["fn_name"] is None:
            tests = StdinTests(code, seconds)
        else:
            tests = CallTests(code, seconds, request["fn_name"], request["inputs"])
        return {"loaded": True}
    except Exception as error:
        return {"loaded": False, "error": str(error)}


def stream_of_a_pipe():
    """A standard output that knows it cannot seek. A stream of /dev/null keeps the contrary in mind when a pipe replaces it."""
    saved = os.dup(1)
    ends = os.pipe()
    os.dup2(ends[1], 1)
    stream = open(1, "w", encoding="utf-8", closefd=False)
    os.dup2(saved, 1)
    for descriptor in (saved, *ends):
        os.close(descriptor)
    return stream


channel = Channel()
raise_stack_limit()
sys.stdout = stream_of_a_pipe()
fork, unlink, real_open = os.fork, os.unlink, open
# Closing the output is common, and does nothing in the original.
sys.stdout.reconfigure(write_through=True)
sys.stdout.close = lambda: None
sys.__stdin__, sys.__stdout__ = sys.stdin, sys.stdout
os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
tempfile.gettempdir()  # It needs functions that are removed.
exec(PREAMBLE, {})
channel.serve(handle)
