"""Runs the unit tests of a task against a program, as BigCodeBench does. Needs guard.py and harness.py before it.

Tests patch and inspect the program, so both run in one process: a child of this one, which cannot reach its parent. The child
reports with a token, and `Guard` notices programs that change what the verdict depends on.
"""

import ctypes
import functools
import secrets
import select
import time

LONGEST_DETAIL = 4000
GRACE_SECONDS = 3
PR_SET_DUMPABLE = 4


def check_libraries():
    """The program may not replace functions that tests compare with."""
    for name in ("math", "numpy", "numpy.testing", "pandas", "pandas.testing"):
        for key, value in list(vars(sys.modules.get(name, types)).items()):
            if getattr(value, "__module__", None) == "__test__":
                raise Forged(f"the program changes {name}.{key}")


class Result(unittest.TestResult):
    def __init__(self, guard):
        super().__init__()
        self._guard = guard

    def stopTest(self, test):
        self._guard.check_test(test)
        check_libraries()
        super().stopTest(test)


def checked(function):
    """The function under test. It may not skip its tests."""

    @functools.wraps(function)
    def wrapper(*arguments, **keywords):
        try:
            value = function(*arguments, **keywords)
        except unittest.SkipTest as error:
            raise RuntimeError("the program skips its tests") from error
        refuse_forged_values(value)
        return value

    return wrapper


def run(request):
    guard = Guard()
    module = types.ModuleType("__test__")
    sys.modules["__test__"] = module
    # Separately, so that an unfinished text at the end of the program cannot contain the tests.
    exec(compile(request["code"], "__test__.py", "exec"), module.__dict__)
    guard.check()
    module.__dict__.pop("TestCases", None)
    name = request["entry_point"]
    if callable(getattr(module, name, None)):
        setattr(module, name, checked(getattr(module, name)))
    exec(compile(request["test_code"], "__test__.py", "exec"), module.__dict__)
    guard.watch(module.TestCases)
    suite = unittest.TestLoader().loadTestsFromTestCase(module.TestCases)
    number = suite.countTestCases()
    result = Result(guard)
    suite.run(result)
    guard.check()
    problems = result.failures + result.errors
    details = {test.id().split(".")[-1]: trace[-LONGEST_DETAIL:] for test, trace in problems}
    if number == 0 or result.testsRun != number:
        return {"status": "fail", "details": details or {"ALL": "no test was run"}}
    return {"status": "fail" if problems else "pass", "details": details}


def report_of(request):
    try:
        with TimeLimit(request["seconds"]):
            return run(request)
    except TimeoutException:
        return {"status": "timeout", "details": {"reason": "time_limit"}}
    except BaseException as error:
        return {"status": "fail", "details": {"ALL": repr(error)[:LONGEST_DETAIL]}}


def in_child(request, token, write, dumps, end):
    """The functions are arguments because the program may replace them."""
    try:
        write(token + dumps(report_of(request)).encode())
    finally:
        end(0)


def handle(request):
    token = secrets.token_bytes(16)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        channel.close()
        os.close(reader)
        os.setsid()
        request.pop("nonce")
        in_child(request, token, open(writer, "wb", buffering=0).write, json.dumps, os._exit)
    os.close(writer)
    report = read_all(reader, time.monotonic() + request["seconds"] + GRACE_SECONDS)
    os.close(reader)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    nonce = {"nonce": request["nonce"]}
    if report is None:
        return {**nonce, "status": "timeout", "details": {"reason": "time_limit"}}
    if not report.startswith(token):
        return {**nonce, "status": "error", "details": {"stderr": "The program ended its process."}}
    return {**nonce, **json.loads(report[len(token) :])}


def read_all(descriptor, deadline):
    """What was written to a pipe until its end; None if it did not end in time."""
    chunks = []
    while select.select([descriptor], [], [], max(deadline - time.monotonic(), 0))[0]:
        if not (chunk := os.read(descriptor, 1 << 16)):
            return b"".join(chunks)
        chunks.append(chunk)
    return None


channel = Channel()
# The child may not open the memory and the descriptors of this process.
ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0)
channel.serve(handle)
