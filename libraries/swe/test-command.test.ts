import { describe, expect, it } from "vitest";
import { readInstance } from "./instance.ts";
import { changedFiles, isTestSupport, testPlan } from "./test-command.ts";

const instance = (fields: object) => readInstance({ instance_id: "a__b-1", repo: "a/b", ...fields });

describe("testPlan", () => {
  it.each([
    ["python3 -m unittest -v tests.test_a", { python: "python3", words: ["-v", "tests.test_a"] }],
    ["python -m unittest", { python: "python", words: [] }],
    [
      "/opt/py/bin/python3.9 -m unittest discover -s tests",
      { python: "/opt/py/bin/python3.9", words: ["discover", "-s", "tests"] },
    ],
    ["python3 -m unittest -v tests.test_a && true", undefined],
    ["PYTHONPATH=src python3 -m unittest", undefined],
    ["python3 -m pytest", undefined],
  ])("takes %s apart", (test_cmd, unittest) => {
    expect(testPlan(instance({ test_cmd, log_parser: "unittest" })).unittest).toEqual(unittest);
  });
});

describe("isTestSupport", () => {
  const own = instance({
    patch: "--- a/tests/data.py\n+++ b/tests/data.py\n",
    FAIL_TO_PASS: ["test_a (tests.unit.test_a.ATest.test_a)", "test_b (checks_b.BTest)"],
  });
  it.each([
    ["tests/unit/__init__.py", true],
    ["tests/helpers.py", true],
    ["checks_b.py", true],
    ["src/conftest.py", true],
    ["unittest.py", true],
    ["unittest/case.py", true],
    ["tests/data.py", false],
    ["src/unittest.py", false],
    ["shop/prices.py", false],
  ])("knows %s", (file, expected) => {
    expect(isTestSupport(own, file)).toBe(expected);
  });
});

it("finds the files of a patch", () => {
  const patch =
    "diff --git a/x b/y\nrename from x\nrename to y\n--- /dev/null\n+++ b/new file.py\t2026\n--- a/old.py\n+++ /dev/null\n";
  expect(changedFiles(patch)).toEqual(["y", "new file.py", "old.py"]);
});
