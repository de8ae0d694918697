import { type JsonObject, perServer, type ServerContext } from "nemo-gym";
import { gradePatch } from "../../libraries/swe/grade-patch.ts";
import { readInstance, type SweInstance } from "../../libraries/swe/instance.ts";
import { type CommandOutcome, type Workspace, Workspaces } from "../../libraries/swe/workspace.ts";

/** The run in the image of an instance. */
export interface SandboxTask {
  mode: "eval" | "repro-gen";
  instance: JsonObject;
  image: string;
  patch: string;
  /** A patch that adds the script that reproduces the bug. */
  testPatch: string | null;
  timeoutSeconds: number;
  signal: AbortSignal;
}

export interface SandboxVerdict {
  reward: number;
  verification_result: JsonObject;
}

export type RunInSandbox = (task: SandboxTask, server: ServerContext) => Promise<SandboxVerdict>;

const REWARDS = { RESOLVED_FULL: 1, RESOLVED_PARTIAL: 0.2, RESOLVED_NO: 0 } as const;
const SHOWS_BUG = 2;

const workspacesOf = perServer((server: ServerContext) => new Workspaces(server));

/** Runs the tests of the instance after the patch, or the script before and after the reference patch. */
export const runInSandbox: RunInSandbox = async (task, server) => {
  const instance = readInstance({ ...task.instance, image: task.image });
  return task.mode === "eval" ? testPatch(task, instance, server) : tryScript(task, instance, server);
};

async function testPatch(
  { patch, timeoutSeconds, signal }: SandboxTask,
  instance: SweInstance,
  server: ServerContext,
): Promise<SandboxVerdict> {
  const graded = await gradePatch(workspacesOf(server), instance, patch, { timeoutSeconds, signal });
  const report = graded.eval_report[instance.instance_id];
  const { FAIL_TO_PASS: fixed, PASS_TO_PASS: kept } = report?.tests_status ?? {};
  const partly =
    report?.patch_successfully_applied && kept?.failure.length === 0 && (fixed?.success.length ?? 0) > 0;
  const resolution = report?.resolved ? "RESOLVED_FULL" : partly ? "RESOLVED_PARTIAL" : "RESOLVED_NO";
  return { reward: REWARDS[resolution], verification_result: { status: "done", resolution, report } };
}

async function tryScript(
  { patch, testPatch: script, timeoutSeconds, signal }: SandboxTask,
  instance: SweInstance,
  server: ServerContext,
): Promise<SandboxVerdict> {
  const options = { timeoutSeconds, signal };
  const file = /^\+\+\+ b\/(.*)$/m.exec(script ?? "")?.[1] ?? "";
  const command = `"$(command -v python || command -v python3)" ${file}`;
  // Each run has a clean copy, so that the script cannot leave anything for its second run.
  const run = async (patches: readonly string[]): Promise<CommandOutcome | undefined> => {
    const workspace = await workspacesOf(server).open(instance, signal);
    try {
      for (const each of patches) if (!(await applied(workspace, each, options))) return undefined;
      return await workspace.run(command, options);
    } finally {
      await workspace.close();
    }
  };
  const before = await run([script ?? ""]);
  if (before === undefined) return failed("the script could not be added");
  if (before.timedOut) return { reward: 0, verification_result: { status: "timeout" } };
  const after = await run([script ?? "", patch]);
  if (after === undefined) return failed("the reference patch could not be applied");
  const codes = { exit_code_before: before.return_code, exit_code_after: after.return_code };
  const shows = before.return_code === SHOWS_BUG && after.return_code === 0;
  return {
    reward: shows ? 1 : 0,
    verification_result: { status: after.timedOut ? "timeout" : "done", ...codes },
  };
}

async function applied(
  workspace: Workspace,
  patch: string,
  options: { timeoutSeconds: number; signal: AbortSignal },
): Promise<boolean> {
  const file = "/tmp/gym.patch";
  await workspace.write(file, patch.endsWith("\n") ? patch : `${patch}\n`, options.signal);
  return (await workspace.run(`git apply ${file}`, options)).return_code === 0;
}

function failed(reason: string): SandboxVerdict {
  return { reward: 0, verification_result: { status: "error", reason } };
}
