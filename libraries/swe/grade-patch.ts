import { randomUUID } from "node:crypto";
import { unittestProgram } from "nemo-gym/code-runner";
import { shellQuote } from "nemo-gym/sandbox";
import { z } from "zod";
import type { SweInstance } from "./instance.ts";
import { type InstanceReport, reportOf } from "./report.ts";
import { changedFiles, isTestSupport, testFiles, testPlan } from "./test-command.ts";
import { readTestLog, type TestStatus, withUnittestNames } from "./test-log.ts";
import type { Workspace, Workspaces } from "./workspace.ts";

const PATCH_FILE = "/tmp/gym_model.patch";
const TEST_PATCH_FILE = "/tmp/gym_test.patch";
const LOG_FILE = "/tmp/gym_test_output.log";
/** Number of bytes kept: the summary is at the end of a log. */
const LOG_BYTES = 8 * 1024 * 1024;
const STEP_SECONDS = 120;
/** Ways to apply a patch, from strict to lenient, in the order of the SWE-bench harness. */
const APPLY = ["git apply --verbose", "git apply --verbose --reject", "patch --batch --fuzz=5 -p1 -i"];

export interface Grading {
  instance_id: string;
  model_patch: string | null;
  eval_report: Record<string, InstanceReport>;
  /** The end of the test log; it is not part of the result. */
  log: string;
}

interface TestRun {
  log: string;
  statuses: ReadonlyMap<string, TestStatus>;
}
const NO_RUN: TestRun = { log: "", statuses: new Map() };

/** Applies a patch to a clean copy of an instance, runs its tests and compares their status with the expected status. */
export async function gradePatch(
  workspaces: Workspaces,
  instance: SweInstance,
  modelPatch: string | null | undefined,
  options: { timeoutSeconds: number; signal: AbortSignal },
): Promise<Grading> {
  const exists = modelPatch != null && modelPatch.trim() !== "";
  const graded = (applied: boolean, { log, statuses }: TestRun): Grading => ({
    instance_id: instance.instance_id,
    model_patch: modelPatch ?? null,
    eval_report: { [instance.instance_id]: reportOf(instance, { exists, applied }, statuses) },
    log,
  });
  if (!exists) return graded(false, NO_RUN);
  const workspace = await workspaces.open(instance, options.signal);
  try {
    // A submission loses its final newline in transit, but `git apply` requires it.
    const patch = modelPatch.endsWith("\n") ? modelPatch : `${modelPatch}\n`;
    if (!(await applies(workspace, PATCH_FILE, patch, options.signal))) return graded(false, NO_RUN);
    return graded(true, await runTests(workspace, instance, changedFiles(patch), options));
  } finally {
    await workspace.close();
  }
}

async function applies(
  workspace: Workspace,
  file: string,
  patch: string,
  signal: AbortSignal,
): Promise<boolean> {
  await workspace.write(file, patch, signal);
  for (const command of APPLY) {
    const { return_code } = await workspace.run(`${command} ${file}`, {
      timeoutSeconds: STEP_SECONDS,
      signal,
    });
    if (return_code === 0) return true;
  }
  return false;
}

async function runTests(
  workspace: Workspace,
  instance: SweInstance,
  changed: readonly string[],
  { timeoutSeconds, signal }: { timeoutSeconds: number; signal: AbortSignal },
): Promise<TestRun> {
  const step = { timeoutSeconds: STEP_SECONDS, signal };
  // Changes of the patch to the tests do not count: the instance's own tests replace them.
  const support = changed.filter((file) => isTestSupport(instance, file));
  for (const file of new Set([...testFiles(instance), ...support]))
    await workspace.run(`git checkout -q HEAD -- ${shellQuote(file)} || rm -rf -- ${shellQuote(file)}`, step);
  if (
    instance.test_patch.trim() !== "" &&
    !(await applies(workspace, TEST_PATCH_FILE, instance.test_patch, signal))
  )
    return { log: "The test patch could not be applied.", statuses: new Map() };
  const { commands, parser, unittest } = testPlan(instance);
  const all = unittest === undefined ? [...instance.eval_commands, ...commands] : instance.eval_commands;
  await workspace.run(`{\n:\n${all.join("\n")}\n} > ${LOG_FILE} 2>&1`, { timeoutSeconds, signal });
  const readLog = async () => (await workspace.run(`tail -c ${LOG_BYTES} ${LOG_FILE}`, step)).output;
  if (unittest === undefined) {
    const log = await readLog();
    return { log, statuses: readTestLog(log, parser) };
  }
  const statuses = await runUnittest(workspace, unittest, { timeoutSeconds, signal });
  return { log: await readLog(), statuses };
}

const Report = z.object({ statuses: z.record(z.string(), z.enum(["passed", "failed", "skipped"])) });

/** Runs plain unit tests so that the report comes from a process that the code under test cannot reach. */
async function runUnittest(
  workspace: Workspace,
  { python, words }: { python: string; words: readonly string[] },
  options: { timeoutSeconds: number; signal: AbortSignal },
): Promise<ReadonlyMap<string, TestStatus>> {
  // New names: what ran before cannot have prepared the directory, and nothing knows what begins the report.
  const directory = `/tmp/gym_${randomUUID()}`;
  const nonce = randomUUID();
  await workspace.write(`${directory}/unittest_runner.py`, unittestProgram(), options.signal);
  await workspace.write(`${directory}/nonce`, nonce, options.signal);
  const command = [python, `${directory}/unittest_runner.py`, "supervise", LOG_FILE, ...words];
  const { output } = await workspace.run(command.map(shellQuote).join(" "), options);
  const line = output.split("\n").find((each) => each.startsWith(nonce));
  const report = Report.safeParse(line === undefined ? {} : JSON.parse(line.slice(nonce.length)));
  return report.success ? withUnittestNames(Object.entries(report.data.statuses)) : new Map();
}
