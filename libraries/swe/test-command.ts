import { shellQuote } from "nemo-gym/sandbox";
import type { SweInstance } from "./instance.ts";
import type { LogParser } from "./test-log.ts";

interface TestPlan {
  /** Shell commands, in order. */
  commands: string[];
  parser: LogParser;
}

interface Repository {
  command: string;
  parser: LogParser;
  /** Converts a file name to an argument of the command. */
  target?: (file: string) => string;
}

const PYTEST = "python -m pytest -rA -p no:cacheprovider";

/** Repositories whose tests do not run with plain pytest. */
const REPOSITORIES: Readonly<Record<string, Repository>> = {
  "django/django": {
    command: "./tests/runtests.py --verbosity 2 --settings=test_sqlite --parallel 1",
    parser: "unittest",
    target: (file) =>
      file
        .replace(/^tests\//, "")
        .replace(/\.py$/, "")
        .replaceAll("/", "."),
  },
  "sympy/sympy": { command: "bin/test -C --verbose", parser: "sympy" },
  "sphinx-doc/sphinx": { command: "tox --current-env -epy39 -v --", parser: "pytest" },
  "getmoto/moto": { command: `${PYTEST} -n0`, parser: "pytest" },
};
const USUAL: Repository = { command: PYTEST, parser: "pytest" };

const NOT_TESTS = /\.(json|png|csv|txt|md|jpe?g|pkl|ya?ml|toml|html|rst)$/;

/** The commands that run an instance's tests: its own, or its repository's with the files of its test patch. */
export function testPlan(instance: SweInstance): TestPlan {
  const usual = REPOSITORIES[instance.repo.toLowerCase()] ?? USUAL;
  const parser = instance.log_parser ?? usual.parser;
  if (instance.test_cmd.length > 0) return { commands: instance.test_cmd, parser };
  const files = testFiles(instance).filter((file) => !NOT_TESTS.test(file));
  const targets = files.map((file) => shellQuote(usual.target?.(file) ?? file));
  return { commands: [[usual.command, ...targets].join(" ")], parser };
}

/** The files changed by a test patch; without a patch, the files derived from the test names. */
export function testFiles(instance: SweInstance): string[] {
  const changed = Array.from(
    instance.test_patch.matchAll(/^diff --git a\/.* b\/(.*)$/gm),
    ([, file = ""]) => file,
  );
  if (changed.length > 0) return [...new Set(changed)];
  const named = [...instance.FAIL_TO_PASS, ...instance.PASS_TO_PASS].flatMap((name) => {
    const [file = "", test] = name.split("::", 2);
    return test === undefined ? [] : [file];
  });
  return [...new Set(named)];
}
