import { shellQuote } from "nemo-gym/sandbox";
import type { SweInstance } from "./instance.ts";
import { type InstanceReport, reportOf } from "./report.ts";
import { testFiles, testPlan } from "./test-command.ts";
import { readTestLog } from "./test-log.ts";
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

/** Applies a patch to a clean copy of an instance, runs its tests and compares their status with the expected status. */
export async function gradePatch(
  workspaces: Workspaces,
  instance: SweInstance,
  modelPatch: string | null | undefined,
  options: { timeoutSeconds: number; signal: AbortSignal },
): Promise<Grading> {
  const exists = modelPatch != null && modelPatch.trim() !== "";
  const graded = (applied: boolean, log: string): Grading => {
    const statuses = applied ? readTestLog(log, testPlan(instance).parser) : new Map();
    return {
      instance_id: instance.instance_id,
      model_patch: modelPatch ?? null,
      eval_report: { [instance.instance_id]: reportOf(instance, { exists, applied }, statuses) },
      log,
    };
  };
  if (!exists) return graded(false, "");
  const workspace = await workspaces.open(instance, options.signal);
  try {
    // A submission loses its final newline in transit, but `git apply` requires it.
    const patch = modelPatch.endsWith("\n") ? modelPatch : `${modelPatch}\n`;
    if (!(await applies(workspace, PATCH_FILE, patch, options.signal))) return graded(false, "");
    return graded(true, await runTests(workspace, instance, options));
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
  { timeoutSeconds, signal }: { timeoutSeconds: number; signal: AbortSignal },
): Promise<string> {
  const step = { timeoutSeconds: STEP_SECONDS, signal };
  // Changes of the patch to the tests do not count: the instance's own tests replace them.
  for (const file of testFiles(instance))
    await workspace.run(`git checkout -q HEAD -- ${shellQuote(file)} || rm -f -- ${shellQuote(file)}`, step);
  if (
    instance.test_patch.trim() !== "" &&
    !(await applies(workspace, TEST_PATCH_FILE, instance.test_patch, signal))
  )
    return "The test patch could not be applied.";
  const commands = [...instance.eval_commands, ...testPlan(instance).commands];
  await workspace.run(`{\n${commands.join("\n")}\n} > ${LOG_FILE} 2>&1`, { timeoutSeconds, signal });
  return (await workspace.run(`tail -c ${LOG_BYTES} ${LOG_FILE}`, step)).output;
}
