/** The status of one test. */
export type TestStatus = "passed" | "failed" | "skipped";

export type LogParser = "pytest" | "unittest" | "sympy";

const ESCAPES = /\u001b\[[0-9;]*[A-Za-z]/g;

/** Parses the output of a test run into the status of each test. */
export function readTestLog(log: string, parser: LogParser): Map<string, TestStatus> {
  const lines = log.replace(ESCAPES, "").split(/\r?\n/);
  return PARSERS[parser](lines);
}

const PARSERS: Readonly<Record<LogParser, (lines: readonly string[]) => Map<string, TestStatus>>> = {
  pytest: readPytest,
  unittest: readUnittest,
  sympy: readSympy,
};

const PYTEST: Readonly<Record<string, TestStatus>> = {
  PASSED: "passed",
  XFAIL: "passed",
  XPASS: "passed",
  FAILED: "failed",
  ERROR: "failed",
  SKIPPED: "skipped",
};
const PYTEST_WORDS = Object.keys(PYTEST).join("|");
/** `PASSED a.py::test_b[c d]` in the summary (`-rA`); a failure may continue with ` - message`. */
const PYTEST_SUMMARY = new RegExp(`^(${PYTEST_WORDS})(?: \\[\\d+\\])? +(\\S.*)$`);
/** `a.py::test_b PASSED  [ 50%]` with `-v`. */
const PYTEST_VERBOSE = new RegExp(`^(\\S+::.*?) (${PYTEST_WORDS})(?: +\\(.*\\))?(?: +\\[ *\\d+%\\])?$`);

function readPytest(lines: readonly string[]): Map<string, TestStatus> {
  const statuses = new Map<string, TestStatus>();
  for (const line of lines) {
    const summary = PYTEST_SUMMARY.exec(line);
    const verbose = PYTEST_VERBOSE.exec(line);
    const word = summary?.[1] ?? verbose?.[2];
    const name = summary?.[2] ?? verbose?.[1];
    if (word === undefined || name === undefined) continue;
    // Only failures and skips have a message after the name.
    const status = PYTEST[word] as TestStatus;
    statuses.set(status === "passed" ? name.trim() : (name.split(" - ")[0] ?? name).trim(), status);
  }
  return statuses;
}

/** `test_a (module.Class) ... ok`; a doc string may replace the name, or follow it on the next line. */
const UNITTEST = /^(.*?) \.\.\. (.*)$/;
const UNITTEST_END = /(?:^|.*\s)(ok|FAIL|ERROR|skipped\b.*|expected failure|unexpected success)$/;
const UNITTEST_FAILURE = /^(?:FAIL|ERROR): (\S+ \(.*\))/;

function readUnittest(lines: readonly string[]): Map<string, TestStatus> {
  return withUnittestNames(unittestStatuses(lines));
}

/** Python 3.11 repeats the test name after its class; test lists may come from an older or newer Python than the one that runs them. */
export function withUnittestNames(
  statuses: Iterable<[name: string, status: TestStatus]>,
): Map<string, TestStatus> {
  const found = new Map(statuses);
  for (const [name, status] of [...found]) {
    const [, test, place] = /^(\S+) \((.+)\)$/.exec(name) ?? [];
    if (test === undefined || place === undefined) continue;
    found.set(
      `${test} (${place.endsWith(`.${test}`) ? place.slice(0, -test.length - 1) : `${place}.${test}`})`,
      status,
    );
  }
  return found;
}

function unittestStatuses(lines: readonly string[]): Map<string, TestStatus> {
  const statuses = new Map<string, TestStatus>();
  let open: string[] = [];
  for (const [index, line] of lines.entries()) {
    const failure = UNITTEST_FAILURE.exec(line);
    if (failure?.[1] !== undefined) {
      statuses.set(failure[1], "failed");
      continue;
    }
    const [, name, rest] = UNITTEST.exec(line) ?? [];
    if (name !== undefined && rest !== undefined) {
      const before = lines[index - 1] ?? "";
      // With a doc string, the name is alone on the previous line.
      open = [name.trim(), ...(/^\S+ \([\w.]+\)$/.test(before) ? [before] : [])];
      const status = unittestStatus(rest);
      if (status === undefined) continue;
      for (const each of open) statuses.set(each, status);
      open = [];
      continue;
    }
    // Output of a test may occur between its name and its status.
    const status = open.length > 0 ? unittestStatus(line) : undefined;
    if (status === undefined) continue;
    for (const each of open) statuses.set(each, status);
    open = [];
  }
  return statuses;
}

function unittestStatus(text: string): TestStatus | undefined {
  const word = UNITTEST_END.exec(text.trim())?.[1];
  if (word === undefined) return undefined;
  if (word === "ok" || word === "expected failure") return "passed";
  return word.startsWith("skipped") ? "skipped" : "failed";
}

const SYMPY: Readonly<Record<string, TestStatus>> = {
  ok: "passed",
  F: "failed",
  E: "failed",
  f: "passed",
  s: "skipped",
};

/** `test_name ok`, and `____ file:test_name ____` above a traceback. */
function readSympy(lines: readonly string[]): Map<string, TestStatus> {
  const statuses = new Map<string, TestStatus>();
  for (const line of lines) {
    const failed = /^_{3,} \S+\.py:(test\S*) _{3,}$/.exec(line.trim());
    if (failed?.[1] !== undefined) statuses.set(failed[1], "failed");
    const [, name, word] = /^(test_\S+) (ok|F|E|f|s)\b/.exec(line.trim()) ?? [];
    const status = word === undefined ? undefined : SYMPY[word];
    if (name !== undefined && status !== undefined) statuses.set(name, status);
  }
  return statuses;
}
