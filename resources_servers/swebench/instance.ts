import { z } from "zod";
import { SweInstance } from "../../libraries/swe/instance.ts";
import { testFiles, testPlan } from "../../libraries/swe/test-command.ts";
import type { LogParser } from "../../libraries/swe/test-log.ts";

export const START = ">>>>> Start Test Output";
export const END = ">>>>> End Test Output";
export const WORKDIR = "/testbed";

/** Repositories whose usual test command is known. */
const KNOWN = new Set([
  ...[
    "astropy/astropy",
    "django/django",
    "matplotlib/matplotlib",
    "mwaskom/seaborn",
    "pallets/flask",
    "psf/requests",
  ],
  ...[
    "pydata/xarray",
    "pylint-dev/pylint",
    "pytest-dev/pytest",
    "scikit-learn/scikit-learn",
    "sphinx-doc/sphinx",
  ],
  "sympy/sympy",
]);
/** Builds of these need more than the usual sandbox. */
const LARGE = /^(?:preactjs__preact|axios__axios|valkey-io__valkey)-/;

const text = z.string();
const listText = text.refine(
  (value) => {
    try {
      return z.array(z.string()).safeParse(JSON.parse(value)).success;
    } catch {
      return false;
    }
  },
  { message: "must be the JSON text of a list of test names" },
);

export const Instance = z
  .looseObject({
    ...{ repo: text, instance_id: text.min(1), base_commit: text, patch: text, test_patch: text },
    ...{ problem_statement: text, hints_text: text, created_at: text, version: text, difficulty: text },
    ...{ environment_setup_commit: text, subset: text, split: text },
    ...{ FAIL_TO_PASS: listText, PASS_TO_PASS: listText },
    /** The script that runs the tests, if the usual command of the repository does not apply. It prints the two markers. */
    eval_script: text.nullish(),
    log_parser: z.enum(["pytest", "unittest", "sympy"]).nullish(),
    /** The image, if its name does not follow the rule. */
    image: text.nullish(),
  })
  .refine(({ repo, eval_script }) => eval_script != null || KNOWN.has(repo.toLowerCase()), {
    path: ["repo"],
    message: "the test command of this repository is not known: give eval_script",
  });
export type Instance = z.output<typeof Instance>;

/** The image of the row, else that of the template, else the published one. */
export function imageOf({ image, instance_id }: Instance, template: string | null | undefined): string {
  if (image == null && template) return template.replaceAll("{instance_id}", instance_id);
  const architecture = process.arch === "arm64" ? "arm64" : "x86_64";
  return (
    image ??
    `swebench/sweb.eval.${architecture}.${instance_id.toLowerCase().replaceAll("__", "_1776_")}:latest`
  );
}

export function resourcesOf({ instance_id }: Instance): { cpu: number; memory_mib: number } {
  return LARGE.test(instance_id) ? { cpu: 8, memory_mib: 16 * 1024 } : { cpu: 2, memory_mib: 8 * 1024 };
}

/** How the tests run: the script for the sandbox, and the format of its output. */
export function evaluationOf(row: Instance): { script: string; parser: LogParser } {
  const instance = SweInstance.parse(row);
  const { commands, parser } = testPlan(instance);
  if (row.eval_script != null) return { script: row.eval_script, parser: row.log_parser ?? parser };
  const files = testFiles(instance)
    .map((file) => `'${file.replaceAll("'", "'\\''")}'`)
    .join(" ");
  const reset =
    files === "" ? ":" : `git checkout ${row.base_commit} -- ${files} 2>/dev/null || rm -f -- ${files}`;
  const end = "GYM_END_OF_TEST_PATCH";
  const lines = [
    "#!/bin/bash",
    "exec 2>&1",
    "if [ -f /opt/miniconda3/bin/activate ]; then . /opt/miniconda3/bin/activate testbed; fi",
    `cd ${WORKDIR} && git config --global --add safe.directory ${WORKDIR}`,
    reset,
    ...(row.test_patch.trim() === ""
      ? []
      : [`git apply -v - <<'${end}'`, row.test_patch.replace(/\n?$/, ""), end]),
    `echo '${START}'`,
    ...commands,
    `echo '${END}'`,
    reset,
  ];
  return { script: `${lines.join("\n")}\n`, parser };
}
