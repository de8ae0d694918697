import { describe, expect, it } from "vitest";
import { readTestLog } from "./test-log.ts";

const read = (log: string, parser: Parameters<typeof readTestLog>[1]) =>
  Object.fromEntries(readTestLog(log, parser));

describe("test logs", () => {
  it("reads the summary and the lines of pytest logs", () => {
    const log = `tests/a.py::test_verbose PASSED                                  [ 50%]
\u001b[32mPASSED\u001b[0m tests/a.py::test_one[x - y]
FAILED tests/a.py::test_two - AssertionError: 1 != 2 - really
ERROR tests/b.py - ImportError
SKIPPED [1] tests/a.py:9: not here
XFAIL tests/a.py::test_known
1 failed, 2 passed`;
    expect(read(log, "pytest")).toEqual({
      "tests/a.py::test_verbose": "passed",
      "tests/a.py::test_one[x - y]": "passed",
      "tests/a.py::test_two": "failed",
      "tests/b.py": "failed",
      "tests/a.py:9: not here": "skipped",
      "tests/a.py::test_known": "passed",
    });
  });

  it("reads unittest and Django logs of every Python version", () => {
    const log = `test_ok (shop.PriceTest.test_ok) ... ok
test_old (dbshell.tests.OldTest) ... FAIL
test_doc (dbshell.tests.OldTest)
A description of it. ... ok
test_noisy (a.B) ... some output
more output
ok
test_skip (a.B) ... skipped 'no database'

======================================================================
ERROR: test_late (a.B)
----------------------------------------------------------------------`;
    expect(read(log, "unittest")).toMatchObject({
      "test_ok (shop.PriceTest)": "passed",
      "test_ok (shop.PriceTest.test_ok)": "passed",
      "test_old (dbshell.tests.OldTest)": "failed",
      "A description of it.": "passed",
      "test_doc (dbshell.tests.OldTest)": "passed",
      "test_noisy (a.B)": "passed",
      "test_skip (a.B)": "skipped",
      "test_late (a.B)": "failed",
    });
  });

  it("reads logs of the sympy runner", () => {
    const log = `sympy/core/tests/test_basic.py[3]
test_equality ok
test_matches F
test_has E
____ sympy/core/tests/test_basic.py:test_atoms ____`;
    expect(read(log, "sympy")).toEqual({
      test_equality: "passed",
      test_matches: "failed",
      test_has: "failed",
      test_atoms: "failed",
    });
  });
});
