import path from "node:path";
import { defineResourcesServer, HttpError } from "nemo-gym";
import { laxBool, laxFloat, laxInt } from "nemo-gym/openai";
import { type Sandbox, sandboxConfig } from "nemo-gym/sandbox";
import { z } from "zod";
import { terminalTool, typeInto } from "../../libraries/terminal/terminal-tool.ts";
import { headline, LOGS, readRewards } from "./reward.ts";
import { type HarborTask, readTask, taskVariables } from "./task.ts";
import { copyInto, openTask } from "./task-sandbox.ts";

const Config = z.object({
  ...sandboxConfig,
  /** The directory that contains the task directories. */
  tasks_dir: z.string(),
  /** The entry of reward.json that counts; by default `reward`, or the only entry. */
  reward_key: z.string().nullish(),
  /** Refuse tasks whose tests download something if the sandbox has no network. */
  check_network: laxBool().default(true),
  /** Run `solution/solve.sh` of the task before its tests: every reward must then be 1. */
  run_solution: laxBool().default(false),
  /** Time limit of one command of the model, in seconds. */
  command_timeout: laxFloat().default(180),
  /** Maximum length of an output that the model sees; longer outputs lose their middle. */
  max_output_chars: laxInt().default(20_000),
});

interface Session {
  task: HarborTask;
  sandbox: Sandbox;
  env: Record<string, string>;
  startedAt: number;
}

/** Tasks in the Harbor format: the model works in a sandbox with a shell, then the tests of the task determine the reward. */
export default defineResourcesServer({
  config: Config,
  row: z.looseObject({ task: z.string() }),
  async session({ row, config, server, signal }): Promise<Session> {
    const task = await readTask(path.resolve(server.findFile(config.tasks_dir)), row.task);
    const { sandbox, env } = await openTask(server, task, { signal, checksTests: config.check_network });
    return { task, sandbox, env, startedAt: performance.now() };
  },
  closeSession: ({ session }) => session.sandbox.stop(),
  tools: {
    terminal: {
      ...terminalTool,
      run: ({ input, session, signal }) =>
        secondsLeft(session) > 0 ? typeInto(session.sandbox, input, signal) : { screen: timeIsOver(session) },
    },
    bash: {
      description:
        "Run a command in the shell of the task's machine. Each command starts in the work folder.",
      input: z.object({ command: z.string() }),
      async run({ input, session, config, signal }) {
        const left = secondsLeft(session);
        if (left <= 0) return { error: timeIsOver(session) };
        const timeoutSeconds = Math.min(config.command_timeout, left);
        const result = await session.sandbox.exec(input.command, { timeoutSeconds, signal });
        const output = clipped(`${result.stdout ?? ""}${result.stderr ?? ""}`, config.max_output_chars);
        if (result.error_type === "sandbox") throw failed("tool_error", `the sandbox has failed: ${output}`);
        return result.error_type === "timeout"
          ? { error: `The command was ended after ${Math.round(timeoutSeconds)} seconds.`, output }
          : { exit_code: result.return_code, output };
      },
    },
  },
  async verify({ session, config, signal }) {
    const { sandbox, task, env } = session;
    const { timeout_sec, env: variables } = task.config.verifier;
    try {
      if (config.run_solution) await runSolution(session, signal);
      await sandbox.exec(`rm -rf /tests ${LOGS} && mkdir -p /tests ${LOGS}`, { cwd: "/", signal });
      await copyInto(sandbox, path.join(task.directory, "tests"), "/tests/", signal);
      const result = await sandbox.exec("bash /tests/test.sh", {
        env: { ...env, ...taskVariables(task.name, variables) },
        timeoutSeconds: timeout_sec,
        signal,
      });
      const test_output = clipped(`${result.stdout ?? ""}${result.stderr ?? ""}`, config.max_output_chars);
      if (result.error_type === "timeout")
        throw failed("verifier_error", `tests/test.sh took more than ${timeout_sec} seconds: ${test_output}`);
      const rewards = await readRewards(sandbox, signal);
      const reward = typeof rewards === "string" ? rewards : headline(rewards, config.reward_key);
      // Tests without a reward are broken; their result must not count against the model.
      if (typeof reward === "string" || typeof rewards === "string")
        throw failed("verifier_error", `The task '${task.name}': ${reward}. Output: ${test_output}`);
      return { reward, rewards, test_output, test_exit_code: result.return_code };
    } finally {
      await sandbox.stop();
    }
  },
  reverifyMode: "unsupported",
});

function secondsLeft({ task, startedAt }: Session): number {
  const limit = task.config.agent.timeout_sec;
  return limit == null ? Number.POSITIVE_INFINITY : limit - (performance.now() - startedAt) / 1000;
}

const timeIsOver = ({ task }: Session) =>
  `The ${task.config.agent.timeout_sec} seconds of this task are over.`;

/** Solves the task as its author does, so that a task whose reward is not 1 then is broken. */
async function runSolution({ task, sandbox, env }: Session, signal: AbortSignal): Promise<void> {
  await copyInto(sandbox, path.join(task.directory, "solution"), "/solution/", signal);
  const { return_code, stdout, stderr } = await sandbox.exec("bash /solution/solve.sh", {
    env: { ...env, ...taskVariables(task.name, task.config.solution.env) },
    timeoutSeconds: task.config.agent.timeout_sec ?? null,
    signal,
  });
  if (return_code !== 0)
    throw failed(
      "verifier_error",
      `solution/solve.sh of '${task.name}' failed (${return_code}): ${stderr || stdout}`,
    );
}

function failed(kind: "tool_error" | "verifier_error", message: string): HttpError {
  return new HttpError(500, message, { failure: { class: kind, retryable: false, message } });
}

function clipped(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const half = Math.floor(limit / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half)}`;
}
