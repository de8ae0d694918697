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
