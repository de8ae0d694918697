import { shellQuote } from "nemo-gym/sandbox";
import type { SweInstance } from "./instance.ts";
import type { LogParser } from "./test-log.ts";

interface TestPlan {
  /** Shell commands, in order. */
  commands: string[];
  parser: LogParser;
  /** The same as a plain run of unittest, if the only command is one. */
  unittest?: { python: string; words: string[] };
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
  if (instance.test_cmd.length > 0) {
    const unittest = parser === "unittest" ? plainUnittest(instance.test_cmd) : undefined;
    return { commands: instance.test_cmd, parser, ...(unittest && { unittest }) };
  }
  const files = testFiles(instance).filter((file) => !NOT_TESTS.test(file));
  const targets = files.map((file) => shellQuote(usual.target?.(file) ?? file));
  return { commands: [[usual.command, ...targets].join(" ")], parser };
}

/** A single command such as `python3 -m unittest -v tests.test_a`, without anything that needs a shell. */
function plainUnittest(commands: readonly string[]): TestPlan["unittest"] {
  const [command = "", ...more] = commands;
  const [, python, words] =
    /^\s*([\w./-]*python[\d.]*) -m unittest((?: +[\w./:=-]+)*)\s*$/.exec(command) ?? [];
  if (more.length > 0 || python === undefined) return undefined;
  return { python, words: words?.split(" ").filter((word) => word !== "") ?? [] };
}

/**
 * Files that decide how tests run: those of the directories with the instance's tests, settings of pytest, and modules in the
 * place of a test runner. Files that the reference solution changes are not among them.
 */
export function isTestSupport(instance: SweInstance, file: string): boolean {
  if (changedFiles(instance.patch).includes(file)) return false;
  if (/(?:^|\/)(?:conftest\.py|pytest\.ini)$/.test(file)) return true;
  if (/^(?:unittest|_?pytest|pluggy|sitecustomize|usercustomize)(?:\.py$|\/)/.test(file)) return true;
  const tests = [...testFiles(instance), ...unittestFiles(instance)];
  return tests.some((test) => {
    const directory = /^(?:.*\/)?(?:tests?|testing)\//.exec(test)?.[0];
    return test === file || (directory !== undefined && file.startsWith(directory));
  });
}

/** `tests/test_a.py` and so on, for each place such as `tests.test_a.SomeTest`: where the module ends is not known. */
function unittestFiles(instance: SweInstance): string[] {
  return [...instance.FAIL_TO_PASS, ...instance.PASS_TO_PASS].flatMap((name) => {
    const parts = /\(([\w.]+)\)$/.exec(name)?.[1]?.split(".") ?? [];
    return parts.map((_part, index) => `${parts.slice(0, index + 1).join("/")}.py`);
  });
}

/** The files that a patch changes, adds or removes. */
export function changedFiles(patch: string): string[] {
  const names = Array.from(
    patch.matchAll(/^(?:\+\+\+ (?:b\/)?|--- (?:a\/)?|rename to )([^\t\n]+)/gm),
    ([, file = ""]) => file.trim(),
  );
  return [...new Set(names)].filter((name) => name !== "/dev/null");
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
