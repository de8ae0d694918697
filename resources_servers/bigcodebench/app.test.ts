import { fileURLToPath } from "node:url";
import { createTestServer, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgedTests, rightFunctions } from "../../libraries/python-answers/test-programs.ts";
import { codeServer, pythonAnswer } from "../../libraries/python-answers/test-server.ts";
import app from "./app.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

const programs = [
  "import json\ndef task_func(text):\n    return sum(json.loads(text))",
  "import csv, io\ndef task_func(text):\n    return list(csv.DictReader(io.StringIO(text)))",
  'import re\ndef task_func(text):\n    return re.findall(r"\\b[A-Z]\\w*", text)',
  "import os\ndef task_func(directory):\n    return sorted(n for n in os.listdir(directory) if os.path.getsize(os.path.join(directory, n)) == 0)",
  "import statistics\ndef task_func(values):\n    if not values:\n        raise ValueError\n    return statistics.mean(values), statistics.median(values)",
];

const config = { gt_time_limit: 2, subprocess_timeout: 5 };

describe.skipIf(skipWithoutBubblewrap)("bigcodebench", () => {
  let server: Awaited<ReturnType<typeof codeServer>>;
  beforeAll(async () => {
    server = await codeServer(app, new URL("./", import.meta.url), config);
  });
  afterAll(() => server.close());
  const verify: typeof server.verify = (index, code) => server.verify(index, code);

  it("rewards programs that pass all unit tests", async () => {
    const bodies = await Promise.all(programs.map((code, index) => verify(index, code)));
    expect(bodies.map(({ status }) => status)).toEqual(Array(5).fill("pass"));
  });

  const onText = (code: string) => `${code}\nimport json\ntask_func = lambda text: add(json.loads(text))`;

  it.each(rightFunctions("add"))("rewards a function that uses %s", async (_title, code) => {
    expect(await verify(0, onText(code))).toMatchObject({ reward: 1 });
  });

  const more = {
    "skipped tests": "import unittest\ndef add(values):\n    raise unittest.SkipTest",
    "an assertion of the running test": `import sys
def add(values):
    frame = sys._getframe()
    while frame:
        if "self" in frame.f_locals:
            frame.f_locals["self"].assertEqual = lambda *arguments: None
        frame = frame.f_back`,
    "new code in an assertion":
      "import unittest\nunittest.TestCase.assertEqual.__code__ = (lambda *arguments, **keywords: None).__code__\ndef add(values):\n    pass",
    "tests of its own":
      "import unittest\nclass TestCases(unittest.TestCase):\n    def test_nothing(self):\n        pass\ndef add(values):\n    pass\n",
  };
  const forgeries = [...forgedTests("add"), ...Object.entries(more)];
  it.each(forgeries)("does not reward a function that forges by %s", async (_title, code) => {
    expect(await verify(0, onText(code))).toMatchObject({ reward: 0, status: expect.stringMatching(/./) });
  });

  it("runs tests that patch the program and Python", async () => {
    const test = `import unittest
from unittest.mock import mock_open, patch
class TestCases(unittest.TestCase):
    @patch("builtins.open", mock_open(read_data="7"))
    @patch("__test__.random.randint", return_value=5)
    def test_patched(self, randint):
        self.assertEqual(task_func("a file"), 12)
        randint.assert_called_once()
    def test_mock(self):
        with patch("__test__.random") as random, self.assertRaises(FileNotFoundError):
            random.randint.return_value = 1
            task_func("not there")
`;
    const row = {
      verifier_metadata: { test, entry_point: "task_func", code_prompt: "def task_func(name):" },
    };
    const program = (change: number) =>
      `import random\ndef task_func(name):\n    with open(name) as file:\n        return int(file.read()) + random.randint(1, 9) + ${change}`;
    const patched = await createTestServer(app, { config, directory: here("./") });
    const verify = async (code: string) => (await patched.verify(verifyBody(row, pythonAnswer(code)))).body;
    expect(await verify(program(0))).toMatchObject({ reward: 1, details: {} });
    expect(await verify(program(1))).toMatchObject({ reward: 0, status: "fail" });
    await patched.close();
  });

  it("rewards programs whose tests look at their effects only", async () => {
    const test = `import os, tempfile, unittest
class TestCases(unittest.TestCase):
    def test_file(self):
        path = os.path.join(tempfile.mkdtemp(), "file")
        task_func(path)
        self.assertTrue(os.path.exists(path))
    def test_error(self):
        with self.assertRaises(Exception):
            task_func(None)
`;
    const row = {
      verifier_metadata: { test, entry_point: "task_func", code_prompt: "def task_func(path):" },
    };
    const other = await createTestServer(app, { config, directory: here("./") });
    const verify = async (code: string) => (await other.verify(verifyBody(row, pythonAnswer(code)))).body;
    expect(await verify("def task_func(path):\n    open(path, 'w').close()")).toMatchObject({ reward: 1 });
    expect(await verify("def task_func(path):\n    raise OSError")).toMatchObject({ reward: 0 });
    await other.close();
  });

  it("compares returned values without warnings that a test could see", async () => {
    const test = `import unittest, warnings
class TestCases(unittest.TestCase):
    def test_warnings(self):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            self.assertEqual(task_func().size, 3)
        self.assertEqual(seen, [])
`;
    const code = `import warnings
class Array:
    size = 3
    def __eq__(self, other):
        warnings.warn("comparison of different things")
        return NotImplemented
def task_func():
    return Array()`;
    const row = { verifier_metadata: { test, entry_point: "task_func", code_prompt: "def task_func():" } };
    const other = await createTestServer(app, { config, directory: here("./") });
    expect((await other.verify(verifyBody(row, pythonAnswer(code)))).body).toMatchObject({ reward: 1 });
    await other.close();
  });

  it("reports failed tests, time-outs, errors and programs that end the process", async () => {
    expect(await verify(0, "def task_func(text):\n    return 6")).toMatchObject({
      ...{ reward: 0, status: "fail", details: { test_empty: expect.stringContaining("6 != 0") } },
    });
    expect(await verify(0, "def task_func(text):\n    while True: pass")).toMatchObject({
      status: "timeout",
    });
    expect(await verify(0, "syntax error(")).toMatchObject({
      status: "fail",
      details: { ALL: expect.any(String) },
    });
    expect(await verify(0, "import os\nos._exit(0)")).toMatchObject({ reward: 0, status: "error" });
  });
});
