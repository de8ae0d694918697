"""Runs `unittest` with the arguments of the command line: `supervise LOG ARGUMENT...`.

The tests run in a child process, which cannot reach this one; their output goes to the log. This process prints a report,
after the text of a file `nonce` next to this one, which it removes before the tests start. The text of guard.py comes before this file. It runs with Python 3.6 and
later.
"""

import ctypes
import json
import os
import secrets
import socket
import subprocess


class Result(unittest.TestResult):
    def __init__(self, guard):
        super().__init__()
        self._guard = guard
        self.statuses = {}

    def _set(self, test, status):
        # The first failure of a test counts; its doc string is an alternative name.
        for name in {str(test), test.shortDescription() or str(test)}:
            if self.statuses.get(name) != "failed":
                self.statuses[name] = status

    def startTest(self, test):
        super().startTest(test)
        self._guard.start_test(test)

    def stopTest(self, test):
        self._guard.check_test(test)
        super().stopTest(test)

    def addSuccess(self, test):
        self._set(test, "passed")

    def addError(self, test, error):
        super().addError(test, error)
        self._set(test, "failed")

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self._set(test, "failed")

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self._set(test, "failed")

    def addSkip(self, test, reason):
        self._set(test, "skipped")

    def addExpectedFailure(self, test, error):
        self._set(test, "passed")

    def addUnexpectedSuccess(self, test):
        self._set(test, "failed")


def assert_equal(self, first, second, msg=None, original=unittest.TestCase.assertEqual):
    """Also refuses values that equal everything, except those that tests themselves put into expected values."""
    original(self, first, second, msg)
    file = getattr(sys.modules.get(type(self).__module__), "__file__", None)
    for value in (first, second):
        refuse_forged_values(value, allowed=(unittest.mock.ANY,), file=file)


class Runner:
    def __init__(self, guard, result):
        self._guard = guard
        self._result = result

    def run(self, suite):
        self._guard.check()
        suite.run(self._result)
        self._guard.check()
        return self._result


def run_tests(descriptor, arguments):
    """In the child: reads the token of the report from the socket, and writes the report to it."""
    read, write, dumps, end = os.read, os.write, json.dumps, os._exit
    token = read(descriptor, 32)
    unittest.TestCase.assertEqual = assert_equal
    guard = Guard()
    result = Result(guard)
    sys.path.insert(0, os.getcwd())
    # The code under test does not get the functions of this file by name.
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        unittest.TestProgram(module=None, argv=["unittest"] + arguments, testRunner=Runner(guard, result), exit=False)
        report = {"statuses": result.statuses}
        for _, trace in result.errors + result.failures:
            print(trace)
        sys.stdout.flush()
    except BaseException as error:
        report = {"statuses": {}, "error": repr(error)[:1000]}
    write(descriptor, token + dumps(report).encode() + b"\n")
    end(0)


def supervise(log, arguments):
    file = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nonce")
    with open(file) as nonce_file:
        nonce = nonce_file.read()
    os.unlink(file)
    try:
        # The child may not open the memory and the descriptors of this process (PR_SET_DUMPABLE).
        ctypes.CDLL(None).prctl(4, 0)
    except (OSError, AttributeError):
        pass
    own, other = socket.socketpair()
    token = secrets.token_hex(16).encode()
    own.sendall(token)
    with open(log, "ab") as output:
        child = subprocess.Popen(
            [sys.executable, __file__, "child", str(other.fileno())] + arguments,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=[other.fileno()],
        )
    other.close()
    reply = b""
    while not reply.endswith(b"\n"):
        part = own.recv(1 << 16)
        if not part:
            break
        reply += part
    child.kill()
    child.wait()
    genuine = reply.startswith(token) and reply.endswith(b"\n")
    report = reply[len(token) :].decode() if genuine else dumps_error("the tests ended early")
    print(nonce + report.strip(), flush=True)


def dumps_error(text):
    return json.dumps({"statuses": {}, "error": text})


if sys.argv[1] == "child":
    run_tests(int(sys.argv[2]), sys.argv[3:])
else:
    supervise(sys.argv[2], sys.argv[3:])
