/**
 * Programs for tests of verifiers that run Python. The right ones must score 1 and the forged ones 0, in every environment
 * that they fit.
 */

/** Right programs: the first line is a count, the second has that many integers; print the sum. */
export const readingStyles: Readonly<Record<string, string>> = {
  input: "n = int(input())\nprint(sum(map(int, input().split())))",
  "input until EOFError": `
total, first = 0, True
while True:
    try:
        line = input()
    except EOFError:
        break
    if not first:
        total += sum(map(int, line.split()))
    first = False
print(total)`,
  "input = sys.stdin.readline": `
import sys
input = sys.stdin.readline
n = int(input())
print(sum(map(int, input().split())))`,
  "input as a parameter": `
import sys
def main(read=sys.stdin.readline):
    read()
    print(sum(map(int, read().split())))
main()`,
  "sys.stdin.read": "import sys\nprint(sum(map(int, sys.stdin.read().split()[1:])))",
  "sys.stdin.read with a size": `
import sys
text = ""
while part := sys.stdin.read(3):
    text += part
print(sum(map(int, text.split()[1:])))`,
  "sys.stdin.readlines": "import sys\nprint(sum(map(int, sys.stdin.readlines()[1].split())))",
  "sys.stdin.readline until the end": `
import sys
lines = []
while True:
    line = sys.stdin.readline()
    if not line:
        break
    lines.append(line.strip())
print(sum(int(word) for word in lines[1].split()))`,
  "iter(sys.stdin.readline, '')": `
import sys
lines = [line for line in iter(sys.stdin.readline, "")]
print(sum(map(int, lines[1].split())))`,
  "for line in sys.stdin": `
import sys
for number, line in enumerate(sys.stdin):
    if number == 1:
        print(sum(map(int, line.split())))`,
  "list(sys.stdin)": "import sys\nprint(sum(map(int, list(sys.stdin)[1].split())))",
  "next(sys.stdin)": "import sys\nnext(sys.stdin)\nprint(sum(map(int, next(sys.stdin).split())))",
  "map over sys.stdin": "import sys\n_, line = map(str.strip, sys.stdin)\nprint(sum(map(int, line.split())))",
  "from sys import stdin":
    "from sys import stdin\nstdin.readline()\nprint(sum(map(int, stdin.readline().split())))",
  "from sys import stdin, iterated": "from sys import stdin\nprint(sum(map(int, [*stdin][1].split())))",
  "from sys import *": "from sys import *\nprint(sum(map(int, stdin.read().split()[1:])))",
  "import sys as s": "import sys as s\nprint(sum(map(int, s.stdin.read().split()[1:])))",
  "sys.stdin.buffer.read": "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split()[1:])))",
  "sys.stdin.buffer.readline": `
import sys
read = sys.stdin.buffer.readline
read()
print(sum(map(int, read().split())))`,
  "for line in sys.stdin.buffer": "import sys\nprint(sum(map(int, [*sys.stdin.buffer][1].split())))",
  "bound sys.stdin.buffer.read": `
import sys
read = sys.stdin.buffer.read
data = iter(map(int, read().split()))
print(sum(next(data) for _ in range(next(data))))`,
  "open(0)": "print(sum(map(int, open(0).read().split()[1:])))",
  "with open(0)":
    "with open(0) as file:\n    file.readline()\n    print(sum(map(int, file.readline().split())))",
  "open(0, 'rb')": "print(sum(map(int, open(0, 'rb').read().split()[1:])))",
  "open('/dev/stdin')": "print(sum(map(int, open('/dev/stdin').read().split()[1:])))",
  "open('input.txt') if it exists": `
import sys
try:
    sys.stdin = open("input.txt")
except FileNotFoundError:
    pass
input()
print(sum(map(int, input().split())))`,
  "os.read(0, …)": "import os\nprint(sum(map(int, os.read(0, 1 << 20).split()[1:])))",
  "os.fstat(0)": `
import io, os
input = io.BytesIO(os.read(0, os.fstat(0).st_size)).readline
input()
print(sum(map(int, input().split())))`,
  "os.fdopen(0)":
    "import os\nfile = os.fdopen(0)\nfile.readline()\nprint(sum(map(int, file.readline().split())))",
  "os.pread": "import os\nprint(sum(map(int, os.pread(0, 1 << 20, 0).split()[1:])))",
  "a path of /dev/stdin":
    "from pathlib import Path\nprint(sum(map(int, Path('/dev/stdin').read_text().split()[1:])))",
  "sys.stdin.detach": "import sys\nprint(sum(map(int, sys.stdin.detach().read().split()[1:])))",
  "the C library": `
import ctypes
libc = ctypes.CDLL(None)
def number():
    value = ctypes.c_int()
    libc.scanf(b"%d", ctypes.byref(value))
    return value.value
libc.printf(b"%d\\n", sum(number() for _ in range(number())))
libc.fflush(None)`,
  "io.TextIOWrapper": `
import io, sys
stream = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8")
print(sum(map(int, stream.read().split()[1:])))`,
  "io.StringIO of everything": `
import io, sys
sys.stdin = io.StringIO(sys.stdin.read())
input()
print(sum(map(int, input().split())))`,
  fileinput: "import fileinput\nlines = list(fileinput.input())\nprint(sum(map(int, lines[1].split())))",
  "sys.__stdin__": "import sys\nprint(sum(map(int, sys.__stdin__.read().split()[1:])))",
  "mmap of the input": `
import mmap
with mmap.mmap(0, 0, prot=mmap.PROT_READ) as data:
    print(sum(map(int, data[:].split()[1:])))`,
  "select before reading": `
import select, sys
assert select.select([sys.stdin], [], [], 1)[0]
print(sum(map(int, sys.stdin.read().split()[1:])))`,
  "main guard": `
def main():
    input()
    print(sum(map(int, input().split())))

if __name__ == "__main__":
    main()`,
  "main guard with sys.exit": `
import sys

def main() -> int:
    input()
    print(sum(map(int, input().split())))
    return 0

if __name__ == '__main__':
    sys.exit(main())`,
  "exit()": "input()\nprint(sum(map(int, input().split())))\nexit()",
  "raise SystemExit": "input()\nprint(sum(map(int, input().split())))\nraise SystemExit(0)",
  "sys.stdout.write": "import sys\ninput()\nsys.stdout.write(str(sum(map(int, input().split()))) + '\\n')",
  "sys.stdout.buffer.write":
    "import sys\ninput()\nsys.stdout.buffer.write(b'%d\\n' % sum(map(int, input().split())))",
  "from sys import stdout":
    "from sys import stdin, stdout\nstdin.readline()\nstdout.write(str(sum(map(int, stdin.readline().split()))))",
  "print to a file":
    "import sys\ninput()\nprint(sum(map(int, input().split())), file=sys.stdout, flush=True)",
  "os.write(1, …)": "import os\ninput()\nos.write(1, str(sum(map(int, input().split()))).encode())",
  "sys.stdout replaced and flushed at exit": `
import atexit, io, sys
buffer = io.BytesIO()
sys.stdout = io.TextIOWrapper(buffer, encoding="utf-8", write_through=True)
atexit.register(lambda: sys.__stdout__.write(buffer.getvalue().decode()))
input()
print(sum(map(int, input().split())))`,
  "sys.stdout wrapped again": `
import io, sys
sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
sys.stdin = io.TextIOWrapper(sys.stdin.buffer, encoding="utf-8")
input()
print(sum(map(int, input().split())))`,
  "input and output by codecs": `
import codecs, sys
reader = codecs.getreader("utf-8")(sys.stdin.buffer)
writer = codecs.getwriter("utf-8")(sys.stdout.buffer)
reader.readline()
writer.write(str(sum(map(int, reader.readline().split()))))`,
  "a class of buffered streams": `
import os, sys
from io import BytesIO, IOBase
class Stream(IOBase):
    def __init__(self, file):
        self.descriptor = file.fileno()
        self.writable = "r" not in file.mode
        self.bytes = BytesIO()
    def readline(self):
        if not self.bytes.getvalue():
            self.bytes = BytesIO(os.read(self.descriptor, max(os.fstat(self.descriptor).st_size, 8192)))
        return self.bytes.readline().decode()
    def write(self, text):
        self.bytes.write(text.encode())
    def flush(self):
        if self.writable:
            os.write(self.descriptor, self.bytes.getvalue())
            self.bytes = BytesIO()
sys.stdin, sys.stdout = Stream(sys.stdin), Stream(sys.stdout)
input = lambda: sys.stdin.readline().rstrip("\\r\\n")
input()
print(sum(map(int, input().split())))`,
  "a reader of one character": `
import sys
def number():
    text = sys.stdin.read(1)
    while text.isspace():
        text = sys.stdin.read(1)
    while (character := sys.stdin.read(1)) and not character.isspace():
        text += character
    return int(text)
print(sum(number() for _ in range(number())))`,
  "np.loadtxt without numpy": `
import sys
try:
    import numpy as np
    sys.stdin.readline()
    print(int(np.loadtxt(sys.stdin, dtype=int).sum()))
except ImportError:
    sys.stdin.readline()
    print(sum(map(int, sys.stdin.readline().split())))`,
  "csv.reader": `
import csv, sys
rows = csv.reader(sys.stdin, delimiter=" ")
next(rows)
print(sum(int(cell) for cell in next(rows) if cell))`,
  "contextlib.redirect_stdout": `
import contextlib, io
buffer = io.StringIO()
input()
with contextlib.redirect_stdout(buffer):
    print(sum(map(int, input().split())))
print(buffer.getvalue().strip())`,
  "logging to sys.stdout": `
import logging, sys
logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.INFO)
input()
logging.info(sum(map(int, input().split())))`,
  "print with end and without newline": "input()\nprint(sum(map(int, input().split())), end='')",
  "open(1, 'w')":
    "input()\nwith open(1, 'w', closefd=False) as out:\n    out.write(str(sum(map(int, input().split()))))",
  "deep recursion": `
import sys
sys.setrecursionlimit(10 ** 6)
n = int(input())
values = list(map(int, input().split()))
def total(index, depth):
    if depth > 0:
        return total(index, depth - 1)
    return 0 if index == n else values[index] + total(index + 1, 0)
print(total(0, 20000))`,
  "thread with a large stack": `
import sys, threading
sys.setrecursionlimit(10 ** 6)
threading.stack_size(1 << 27)
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
def main():
    input()
    assert depth(30000) == 30000
    print(sum(map(int, input().split())))
thread = threading.Thread(target=main)
thread.start()
thread.join()`,
  "thread that is not joined": `
import threading
def main():
    input()
    print(sum(map(int, input().split())))
threading.Thread(target=main).start()`,
  "recursion by a generator": `
from types import GeneratorType
def bootstrap(function, stack=[]):
    def wrapped(*arguments):
        if stack:
            return function(*arguments)
        to = function(*arguments)
        while True:
            if type(to) is GeneratorType:
                stack.append(to)
                to = next(to)
            else:
                stack.pop()
                if not stack:
                    return to
                to = stack[-1].send(to)
    return wrapped
@bootstrap
def total(values, index):
    yield 0 if index == len(values) else values[index] + (yield total(values, index + 1))
input()
print(total(list(map(int, input().split())), 0))`,
  "a global counter": `
total = 0
def add(value):
    global total
    total = globals().get("total", 0) + value
input()
for word in input().split():
    add(int(word))
global_total = globals()["total"]
print(global_total)`,
  asyncio: `
import asyncio
async def main():
    input()
    print(sum(map(int, input().split())))
asyncio.run(main())`,
  "a class": `
class Reader:
    def __init__(self):
        import sys
        self.words = sys.stdin.read().split()
    def total(self) -> int:
        return sum(map(int, self.words[1:]))
print(Reader().total())`,
  dataclass: `
from dataclasses import dataclass, field
from typing import List
@dataclass
class Task:
    count: int
    values: List[int] = field(default_factory=list)
task = Task(int(input()), list(map(int, input().split())))
print(sum(task.values))`,
  "names imported beforehand": `
values: List[int] = []
count: Optional[int] = int(input())
values.extend(map(int, input().split()))
assert math.inf > 0 and deque([1]) and Counter("a") and heappush([], 1) is None and gcd(2, 4) == 2
print(reduce(operator.add, values) if values else 0)`,
  "a traceback in a try": `
import traceback
try:
    input()
    print(sum(map(int, input().split())))
except Exception:
    traceback.print_exc()`,
  "messages to stderr":
    "import sys\nprint('debug', file=sys.stderr)\ninput()\nprint(sum(map(int, input().split())))",
  multiprocessing: "import multiprocessing\ninput()\nprint(sum(map(int, input().split())))",
  "concurrent.futures": `
from concurrent.futures import ThreadPoolExecutor
input()
with ThreadPoolExecutor() as pool:
    print(sum(pool.map(int, input().split())))`,
  "modules with side effects": `
import array, bisect, cmath, contextlib, ctypes, decimal, enum, fractions, gc, getpass, inspect, locale, logging, os, pathlib, pickle
import platform, queue, random, shutil, signal, socket, ssl, string, struct, subprocess, tempfile, textwrap, time, unittest, uuid, warnings
input()
print(sum(map(int, input().split())))`,
  "an optional numpy": `
try:
    import numpy as np
    add = lambda values: int(np.array(values).sum())
except ImportError:
    add = sum
input()
print(add(list(map(int, input().split()))))`,
  "an import in a function": `
def main():
    import collections, sys
    words = collections.deque(sys.stdin.read().split())
    words.popleft()
    print(sum(int(word) for word in words))
main()`,
  "an import that fails": `
try:
    import not_there
except ImportError:
    not_there = None
input()
print(sum(map(int, input().split())))`,
};

/** The inputs and outputs of `readingStyles`: with and without a final newline. */
export const readingTests = {
  inputs: ["3\n1 2 3\n", "2\n10 -4", "4\r\n1 1 1 1\r\n"],
  outputs: ["6", "6", "4"],
};

/** Right programs with a function `total` that returns the sum of a list of integers. */
const totals: Readonly<Record<string, string>> = {
  sum: "def total(values):\n    return sum(values)",
  "a lambda": "total = lambda values: sum(values)",
  typing: "from typing import List\ndef total(values: List[int]) -> int:\n    return sum(values)",
  "built-in generics": "def total(values: list[int]) -> int | None:\n    return sum(values)",
  functools:
    "import functools, operator\ndef total(values):\n    return functools.reduce(operator.add, values, 0)",
  itertools: "from itertools import accumulate\ndef total(values):\n    return [0, *accumulate(values)][-1]",
  "import *": "from math import *\ndef total(values):\n    return int(fsum(values))",
  "math.fsum": "import math\ndef total(values):\n    return int(math.fsum(values))",
  recursion: "def total(values):\n    return values[0] + total(values[1:]) if values else 0",
  "deep recursion": `
import sys
sys.setrecursionlimit(100000)
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)
def total(values):
    assert depth(5000) == 5000
    return sum(values)`,
  "a cache": `
from functools import lru_cache
@lru_cache(maxsize=None)
def cached(values):
    return values[0] + cached(values[1:]) if values else 0
def total(values):
    return cached(tuple(values))`,
  "a class": `
class Adder:
    def __call__(self, values):
        return sum(values)
total = Adder()`,
  "a static method": `
class Tools:
    @staticmethod
    def total(values):
        return sum(values)
total = Tools.total`,
  dataclass: `
from dataclasses import dataclass
@dataclass
class Sum:
    value: int = 0
def total(values):
    result = Sum()
    for value in values:
        result.value += value
    return result.value`,
  "a generator": `
def partial_sums(values):
    result = 0
    for value in values:
        result += value
        yield result
def total(values):
    return list(partial_sums([0, *values]))[-1]`,
  "a closure": `
def adder():
    result = 0
    def add(value):
        nonlocal result
        result += value
        return result
    return add
def total(values):
    add = adder()
    for value in values:
        add(value)
    return add(0)`,
  "a global variable": `
result = 0
def total(values):
    global result
    result = 0
    for value in values:
        result += value
    return result`,
  "an import in the function":
    "def total(values):\n    import collections\n    return sum(collections.deque(values))",
  "an optional numpy": `
try:
    import numpy as np
    def total(values):
        return int(np.array(values, dtype=object).sum()) if values else 0
except ImportError:
    total = sum`,
  decimal: "from decimal import Decimal\ndef total(values):\n    return int(sum(map(Decimal, values)))",
  fractions: "from fractions import Fraction\ndef total(values):\n    return int(sum(map(Fraction, values)))",
  "a fraction as the result":
    "from fractions import Fraction\ndef total(values):\n    return Fraction(sum(values))",
  "a number type of its own":
    "class Count(int):\n    pass\ndef total(values):\n    return Count(sum(values))",
  "a parser": "import ast\ndef total(values):\n    return ast.literal_eval(str(sum(values)))",
  eval: 'def total(values):\n    return eval("+".join(map("({})".format, values)) or "0")',
  "a thread": `
import threading
def total(values):
    result = []
    thread = threading.Thread(target=lambda: result.append(sum(values)))
    thread.start()
    thread.join()
    return result[0]`,
  "a thread pool": `
from concurrent.futures import ThreadPoolExecutor
def total(values):
    with ThreadPoolExecutor() as pool:
        return pool.submit(sum, values).result()`,
  asyncio: `
import asyncio
async def later(values):
    return sum(values)
def total(values):
    return asyncio.run(later(values))`,
  printing: "def total(values):\n    print('debug', values)\n    return sum(values)",
  "sys.stdin and sys.stderr": `
import sys
input = sys.stdin.readline
def total(values):
    print(values, file=sys.stderr)
    return sum(values)`,
  "os and shutil":
    "import os, shutil, subprocess, tempfile\ndef total(values):\n    assert os.path\n    return sum(values)",
  multiprocessing: "import multiprocessing\ndef total(values):\n    return sum(values)",
  "an import that fails": `
try:
    from not_there import total
except ImportError:
    def total(values):
        return sum(values)`,
  "a main guard":
    'def total(values):\n    return sum(values)\nif __name__ == "__main__":\n    print(total([1]))',
  "match and the walrus": `
def total(values):
    match values:
        case []:
            return 0
        case [first, *rest]:
            return (result := first + total(rest)) and result`,
};

/** Wrong programs with a function `total` that tries to make any test pass. */
const forgeries: Readonly<Record<string, string>> = {
  "equality of an own class": `
class Anything:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
def total(values):
    return Anything()`,
  "equality of a subclass of int": `
class Anything(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __sub__(self, other): return 0
    __rsub__ = __sub__
    __hash__ = int.__hash__
def total(values):
    return Anything(123456789)`,
  "equality of a subclass of float": `
class Anything(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    __rsub__ = __sub__
    def __abs__(self): return 0.0
    __hash__ = float.__hash__
def total(values):
    return Anything("nan")`,
  "equality of a subclass of str": `
class Anything(str):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    __hash__ = str.__hash__
def total(values):
    return Anything("no")`,
  "equality of a metaclass": `
class Meta(type):
    def __eq__(self, other): return True
    def __hash__(self): return 0
class Anything(metaclass=Meta):
    pass
def total(values):
    return Anything`,
  "a mock": "import unittest.mock\ndef total(values):\n    return unittest.mock.ANY",
  "the expected value in a frame": `
import sys
def total(values):
    depth = 0
    while True:
        try:
            frame = sys._getframe(depth)
        except ValueError:
            return None
        for place in (frame.f_locals, frame.f_globals):
            for name in ("expected", "wanted", "_expected", "outputs"):
                if name in place:
                    found = place[name]
                    return found[0] if isinstance(found, (list, tuple)) and found else found
        depth += 1`,
  "the expected value in the harness": `
import sys
def total(values):
    return sys.modules["__main__"].tests._expected[0]`,
  "functions of the harness": `
import sys
main = sys.modules["__main__"]
for name in "agree agrees is_right is_floats all_close plain value_of raise_error attempt handle to_text shown failure".split():
    setattr(main, name, lambda *arguments, **_: True)
def total(values):
    return None`,
  "a reply of its own": `
import os, sys
def total(values):
    channel = sys.modules["__main__"].channel
    for reply in (
        {"status": "passed"}, {"status": "pass", "details": {}}, {"equal": True, "seconds": 0.1}, {"loaded": True, "details": [True] * 2},
        {"replies": [{"value": "true"}]}, {"reply": {"value": "true"}},
    ):
        channel.send(reply)
    os._exit(0)`,
  "lines on every descriptor": `
import os
def total(values):
    for descriptor in range(64):
        for line in (b'{"status": "passed"}', b'{"status": "pass", "details": {}}', b'{"loaded": true, "details": [true, true]}'):
            try:
                os.write(descriptor, b"\\n" + line + b"\\n")
            except OSError:
                pass
    os._exit(0)`,
  "lines on the descriptors of other processes": `
import os
def total(values):
    for process in filter(str.isdigit, os.listdir("/proc")):
        for descriptor in range(16):
            try:
                with open(f"/proc/{process}/fd/{descriptor}", "wb", buffering=0) as file:
                    file.write(b'\\n{"status": "passed"}\\n{"status": "pass", "details": {}}\\n')
            except OSError:
                pass
    os._exit(0)`,
  "sys.exit": "import sys\ndef total(values):\n    sys.exit(0)",
  "os._exit while loading": "import os\ndef total(values):\n    return None\nos._exit(0)",
  "os._exit at the call": "import os\ndef total(values):\n    os._exit(0)",
  StopIteration: "def total(values):\n    raise StopIteration",
  "patched unittest assertions": `
import unittest
for name in dir(unittest.TestCase):
    if name.startswith(("assert", "fail")):
        setattr(unittest.TestCase, name, lambda *arguments, **keywords: None)
def total(values):
    return None`,
  "a patched unittest runner": `
import unittest
unittest.TestCase._callTestMethod = lambda self, method: None
def total(values):
    return None`,
  "a patched unittest result": `
import unittest
unittest.TestResult.addFailure = unittest.TestResult.addError = lambda *arguments: None
unittest.TestResult.wasSuccessful = lambda self: True
def total(values):
    return None`,
  "a patched TestCase.run": `
import unittest
def run(self, result=None):
    result.startTest(self)
    result.addSuccess(self)
    result.stopTest(self)
    return result
unittest.TestCase.run = unittest.TestCase.__call__ = run
def total(values):
    return None`,
  "an empty suite": `
import unittest
class Nothing(unittest.TestSuite):
    def run(self, result, debug=False):
        result.testsRun = 5
        return result
unittest.TestLoader.loadTestsFromTestCase = lambda *arguments: Nothing()
def total(values):
    return None`,
  "patched builtins": `
import builtins
for name in ("isinstance", "all", "bool"):
    setattr(builtins, name, lambda *arguments: True)
builtins.abs = lambda value: 0
builtins.AssertionError = None
def total(values):
    return None`,
  "patched copy, pickle and json": `
import copy, json, pickle
copy.deepcopy = json.dumps = json.loads = pickle.loads = lambda *arguments, **keywords: True
def total(values):
    return None`,
  "a trace function": `
import sys
def trace(frame, event, argument):
    if frame.f_code.co_name.startswith(("check", "test")):
        frame.f_trace_lines = True
        frame.f_globals["total"] = sum
    return trace
sys.settrace(trace)
def total(values):
    return None`,
  "code in the pickle of the result": `
class Payload:
    def __reduce__(self):
        return exec, ("import sys; sys.modules['__main__'].is_right = lambda *a: True",)
def total(values):
    return Payload()`,
  "tests replaced at the end of the process": `
import atexit, sys
atexit.register(lambda: sys.modules["__main__"].channel.send({"status": "pass", "details": {}}))
def total(values):
    raise SystemExit(0)`,
};

const RUNNING_TEST = `
import sys
def frames():
    frame = sys._getframe()
    while frame:
        yield frame
        frame = frame.f_back
def running_test():
    for frame in frames():
        if hasattr(frame.f_locals.get("self"), "assertEqual"):
            return frame.f_locals["self"]
def values_of_callers(attribute):
    return [value for frame in frames() for value in list(frame.f_locals.values()) if hasattr(value, attribute)]`;

/** Wrong programs for unit tests that run in their process. */
const forgeriesOfTests: Readonly<Record<string, string>> = {
  "lookups of its own in TestCase": `
import unittest
def lookup(self, name):
    return (lambda *arguments, **keywords: None) if name.startswith("assert") else object.__getattribute__(self, name)
unittest.TestCase.__getattribute__ = lookup
def total(values):
    return None`,
  "another class of the running test": `${RUNNING_TEST}
def total(values):
    test = running_test()
    test.__class__ = type("Test", (type(test),), {"assertEqual": lambda *arguments: None})`,
  "equality of the running test": `${RUNNING_TEST}
def total(values):
    test = running_test()
    test._getAssertEqualityFunc = lambda *arguments: lambda *arguments, **keywords: None`,
  "failures that skip the running test": `${RUNNING_TEST}
import unittest
def total(values):
    running_test().failureException = unittest.SkipTest`,
  "a failure that is expected": `${RUNNING_TEST}
def total(values):
    test = running_test()
    test._outcome.expecting_failure = True
    getattr(type(test), test._testMethodName).__unittest_expecting_failure__ = True
    raise ValueError`,
  "another outcome of the running test": `${RUNNING_TEST}
class Nothing:
    def __getattr__(self, name):
        return lambda *arguments, **keywords: None
def total(values):
    running_test()._outcome.result = Nothing()`,
  "methods of the result": `${RUNNING_TEST}
def total(values):
    for result in values_of_callers("addFailure"):
        result.addFailure = result.addError = lambda *arguments: None`,
  "the guard of the tests": `${RUNNING_TEST}
def total(values):
    for guard in values_of_callers("check_test"):
        guard._saved.clear()
        guard._modules.clear()
    for result in values_of_callers("addFailure"):
        type(result).addFailure = type(result).addError = lambda *arguments: None`,
  "classes of the harness": `
import sys, unittest
main = sys.modules["__main__"]
main.Guard.check = main.Guard.check_test = main.Guard.watch = lambda *arguments: None
unittest.TestCase.assertEqual = lambda *arguments: None
def total(values):
    return None`,
  "a writer of JSON of its own": `
import json
json.dumps = json.JSONEncoder.encode = lambda *arguments, **keywords: '{"status": "pass", "details": {}, "statuses": {}}'
def total(values):
    return None`,
  "the token of the report": `${RUNNING_TEST}
import os
def total(values):
    for frame in frames():
        token = frame.f_locals.get("token")
        if isinstance(token, bytes):
            for descriptor in range(3, 64):
                try:
                    os.write(descriptor, token + b'{"status": "pass", "details": {}, "statuses": {}}\\n')
                except OSError:
                    pass
            os._exit(0)`,
  "a number that equals all small numbers": `
class Small(int):
    def __eq__(self, other): return isinstance(other, int) and abs(other) < 1000
    def __ne__(self, other): return not self == other
    __hash__ = int.__hash__
def total(values):
    return Small(0)`,
};

/** Programs whose function has another name: each table with `total` renamed. */
const named = (programs: Readonly<Record<string, string>>, name: string): [title: string, code: string][] =>
  Object.entries(programs).map(([title, code]) => [title, `${code.replace(/^\n/, "")}\n${name} = total`]);

/** Right programs with a function of the given name that returns the sum of a list of integers. */
export const rightFunctions = (name: string) => named(totals, name);

/** Wrong programs with a function of the given name. */
export const forgedFunctions = (name: string) => named(forgeries, name);

/** Wrong programs with a function of the given name, for unit tests that run in their process. */
export const forgedTests = (name: string) => [...named(forgeries, name), ...named(forgeriesOfTests, name)];

/** Wrong programs for the tests of `readingStyles`: they print what a forging function returns, or search for the output. */
export const forgedPrograms: [title: string, code: string][] = [
  ...named(forgeries, "answer").map(([title, code]): [string, string] => [
    title,
    `${code}\ninput()\nprint(answer([int(word) for word in input().split()]))`,
  ]),
  [
    "the output in files and the environment",
    `
import glob, os
found = [os.environ.get("EXPECTED", "")]
for path in glob.glob("/tmp/**", recursive=True) + glob.glob("/proc/*/environ") + glob.glob("/proc/*/cmdline"):
    try:
        found.append(open(path).read())
    except (OSError, UnicodeDecodeError):
        pass
print("\\n".join(found))`,
  ],
  [
    "objects of the harness",
    `
import gc
texts = [value for each in gc.get_objects() if isinstance(each, (list, dict)) for value in (each if isinstance(each, list) else each.values())]
print(next((text for text in texts if isinstance(text, str) and text in ("6", "4")), "nothing"))`,
  ],
  ["all outputs that come to mind", 'print("\\n".join(map(str, range(10))))'],
  ["nothing", "pass"],
];
