import { sandboxUnavailable } from "nemo-gym/code-runner";
import type { Sandbox, SandboxExecResult } from "nemo-gym/sandbox";
import { readTestLog, type TestStatus } from "../../libraries/swe/test-log.ts";
import { END, evaluationOf, type Instance, START, WORKDIR } from "./instance.ts";

const PATCH_FILE = "/tmp/patch.diff";
const SCRIPT_FILE = "/eval.sh";
/** Ways to apply a patch, from strict to lenient. */
const APPLY = ["git apply --verbose", "git apply --verbose --reject", "patch --batch --fuzz=5 -p1 -i"];
/** Reports of the evaluation that no test result follows. */
const FAILED = [
  ">>>>> Patch Apply Failed",
  ">>>>> Reset Failed",
  ">>>>> Tests Errored",
  ">>>>> Tests Timed Out",
];
const CHANGES = "git -c core.fileMode=false diff";

export interface Evaluation {
  evaluation_completed: boolean;
  resolved: boolean;
  test_output: string;
}

export async function run(
  sandbox: Sandbox,
  command: string,
  options: { signal: AbortSignal; cwd?: string; user?: string; timeoutSeconds?: number },
): Promise<SandboxExecResult> {
  const result = await sandbox.exec(command, { timeoutSeconds: null, ...options });
  if (result.error_type === "sandbox") throw sandboxUnavailable(new Error(result.stderr ?? ""));
  return result;
}

/** Applies a patch in a fresh sandbox, runs the tests of the instance and grades their output. */
export async function evaluate(
  sandbox: Sandbox,
  instance: Instance,
  patch: string,
  {
    timeoutSeconds,
    signal,
    debug,
  }: { timeoutSeconds: number; signal: AbortSignal; debug(line: string): void },
): Promise<Evaluation> {
  const notCompleted = (test_output: string) => ({
    evaluation_completed: false,
    resolved: false,
    test_output,
  });
  await sandbox.writeText(PATCH_FILE, patch, { signal });
  if (!(await applies(sandbox, signal))) return notCompleted("");
  const before = await run(sandbox, CHANGES, { signal, cwd: WORKDIR });
  const { script, parser } = evaluationOf(instance);
  await sandbox.writeText(SCRIPT_FILE, script, { signal });
  const result = await run(sandbox, `/bin/bash ${SCRIPT_FILE}`, { signal, timeoutSeconds });
  const output = [result.stdout, result.stderr].filter(Boolean).join("\n");
  if (result.error_type === "timeout") return notCompleted(output);
  const after = await run(sandbox, CHANGES, { signal, cwd: WORKDIR });
  if (before.stdout !== after.stdout) debug(`${instance.instance_id}: the tests changed tracked files`);
  return {
    evaluation_completed: true,
    resolved: isResolved(instance, statusesOf(output, parser)),
    test_output: output,
  };
}

async function applies(sandbox: Sandbox, signal: AbortSignal): Promise<boolean> {
  for (const command of APPLY) {
    const { return_code } = await run(sandbox, `${command} ${PATCH_FILE}`, {
      signal,
      cwd: WORKDIR,
      user: "root",
    });
    if (return_code === 0) return true;
  }
  return false;
}

function statusesOf(
  output: string,
  parser: Parameters<typeof readTestLog>[1],
): ReadonlyMap<string, TestStatus> {
  const start = output.indexOf(START);
  const end = output.indexOf(END, start);
  const isUsable = start >= 0 && end >= 0 && !FAILED.some((report) => output.includes(report));
  return isUsable ? readTestLog(output.slice(start + START.length, end), parser) : new Map();
}

/** Every listed test passed; as in the original, a skipped one counts neither way. */
function isResolved(instance: Instance, statuses: ReadonlyMap<string, TestStatus>): boolean {
  const names = [instance.FAIL_TO_PASS, instance.PASS_TO_PASS].flatMap(
    (list) => JSON.parse(list) as string[],
  );
  return names.every((name) => ["passed", "skipped"].includes(statuses.get(name) ?? "missing"));
}
