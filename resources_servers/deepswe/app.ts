import { createHash } from "node:crypto";
import { defineResourcesServer, HttpError, type ServerContext } from "nemo-gym";
import { sandboxUnavailable } from "nemo-gym/code-runner";
import { laxBool, laxFloat, laxInt } from "nemo-gym/openai";
import {
  openSandbox,
  type Sandbox,
  type SandboxExecResult,
  type SandboxServer,
  sandboxConfig,
  shellQuote,
} from "nemo-gym/sandbox";
import { z } from "zod";
import { terminalTool, typeInto } from "../../libraries/terminal/terminal-tool.ts";
import { readTasks, type Task } from "./tasks.ts";
import { notCompleted, taskIdOf, type Verdict, verdictOf } from "./verdict.ts";

const WORKDIR = "/app";
const PATCH_FILE = "/logs/artifacts/model.patch";
const REWARD_FILE = "/logs/verifier/reward.json";
const REPORT_FILE = "/logs/verifier/ctrf.json";
const STEP_SECONDS = 120;
const TOOL_CHARACTERS = 16_000;

const Config = z.object({
  sandbox_provider: sandboxConfig.sandbox_provider,
  /** The spec of every sandbox: ttl_s, ready_timeout_s, resources, env, metadata, provider_options. */
  sandbox_config: sandboxConfig.sandbox_spec,
  tasks_dir: z.string(),
  expected_task_count: laxInt().nullish(),
  task_cpu_multiplier: laxFloat().default(2),
  task_memory_multiplier: laxFloat().default(2),
  /** Only start agents in sandboxes that have no network. */
  enforce_agent_no_network: laxBool().default(true),
  include_model_patch_in_response: laxBool().default(true),
  /** Evaluates the reference solutions, to test the environment itself. */
  is_verifying_golden_patch: laxBool().default(false),
  /** Seconds for one call of the tool `bash`. */
  tool_timeout: laxFloat().default(120),
  /** A key of the original without effect: the results have the reports. */
  logs_dir: z.unknown().optional(),
});
type Config = z.output<typeof Config>;

const Row = z
  .looseObject({
    task_id: z.string().nullish(),
    verifier_metadata: z.looseObject({ task_id: z.string().nullish() }).nullish(),
    /** The image that the task names. */
    image: z.string(),
  })
  .refine(({ task_id, verifier_metadata }) => taskIdOf(task_id, verifier_metadata) !== undefined, {
    path: ["task_id"],
    message: "task_id or verifier_metadata.task_id must name one task",
  });
type Row = z.output<typeof Row>;

interface Session {
  sandbox?: Sandbox;
  task?: Task;
}

function seeded({ sandbox }: Session): Sandbox {
  if (sandbox === undefined) throw new HttpError(409, "There is no sandbox: call /seed_session first.");
  return sandbox;
}

/** Changes of real repositories: an agent commits them in a sandbox, and the verifier of the task runs in a second one. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  echo: [],
  reverifyMode: "unsupported",
  start: ({ config, findFile }) => readTasks(findFile(config.tasks_dir), config.expected_task_count),
  async session({ row, config, server, state: tasks, signal }): Promise<Session> {
    const task = taskOf(row, tasks);
    const sandbox = await start(server, task, signal);
    if (config.enforce_agent_no_network && !sandbox.isOffline) {
      await sandbox.stop();
      throw sandboxUnavailable(
        new Error(
          `Sandboxes of '${sandbox.providerName}' may have a network, but enforce_agent_no_network is true. Choose settings of the provider without a network.`,
        ),
      );
    }
    return { sandbox, task };
  },
  unseeded: (): Session => ({}),
  closeSession: ({ session }) => session.sandbox?.stop(),
  seedReply: ({ session: { sandbox } }) => ({ sandbox_handle: sandbox?.id ?? null }),
  tools: {
    terminal: {
      ...terminalTool,
      run: ({ input, session, signal }) => typeInto(seeded(session), input, signal),
    },
    bash: {
      description: `Run a command in the repository ${WORKDIR}, with a new bash. Changes of files remain; only commits count.`,
      input: z.object({ command: z.string() }),
      async run({ input, session, config, signal }) {
        const sandbox = seeded(session);
        const command = `exec bash -c ${shellQuote(input.command)} 2>&1`;
        const { stdout, return_code, error_type } = await run(sandbox, command, {
          signal,
          timeoutSeconds: config.tool_timeout,
        });
        const ending = error_type === null ? `exit code ${return_code}` : `ended: ${error_type}`;
        return `${(stdout ?? "").slice(-TOOL_CHARACTERS)}\n[${ending}]`;
      },
    },
  },
  async verify({ config, row, session, server, state: tasks, signal }) {
    const task = taskOf(row, tasks);
    const started = performance.now();
    const patch = config.is_verifying_golden_patch ? task.solution : await collected(session, task, signal);
    const collectSeconds = (performance.now() - started) / 1000;
    const opened = performance.now();
    let startSeconds = 0;
    let verdict: Verdict;
    if (patch === undefined) verdict = notCompleted("The changes of the agent cannot be collected.");
    else {
      const fresh = await start(server, task, signal);
      startSeconds = (performance.now() - opened) / 1000;
      try {
        verdict = await runVerifier(fresh, task, patch, signal);
      } finally {
        await fresh.stop();
      }
    }
    return {
      ...verdict,
      task_id: task.id,
      model_patch: config.include_model_patch_in_response ? (patch ?? "") : null,
      model_patch_sha256: createHash("sha256")
        .update(patch ?? "")
        .digest("hex"),
      model_patch_size_bytes: Buffer.byteLength(patch ?? ""),
      patch_collection_time_s: collectSeconds,
      sandbox_start_time_s: startSeconds,
      verification_time_s: (performance.now() - opened) / 1000 - startSeconds,
    };
  },
});

function taskOf({ task_id, verifier_metadata, image }: Row, tasks: ReadonlyMap<string, Task>): Task {
  const id = taskIdOf(task_id, verifier_metadata);
  const task = id === undefined ? undefined : tasks.get(id);
  if (task === undefined) throw new HttpError(422, `There is no task '${id}' in tasks_dir.`);
  if (task.image !== image)
    throw new HttpError(422, `The task '${id}' needs the image '${task.image}', not '${image}'.`);
  return task;
}

const servers = new WeakMap<object, SandboxServer>();

async function start(server: ServerContext<Config>, task: Task, signal: AbortSignal): Promise<Sandbox> {
  const { sandbox_provider, sandbox_config, task_cpu_multiplier, task_memory_multiplier } = server.config;
  // The same object each time, because sandboxes of one server share a provider.
  const own = servers.get(server) ?? {
    name: server.name,
    globalConfig: server.globalConfig,
    config: { sandbox_provider, sandbox_spec: sandbox_config },
  };
  servers.set(server, own);
  const resources = {
    cpu: task.resources.cpu * task_cpu_multiplier,
    memory_mib: Math.ceil(task.resources.memory_mib * task_memory_multiplier),
    disk_gib: task.resources.disk_gib,
    ...(sandbox_config?.["resources"] as object | undefined),
  };
  try {
    return await openSandbox(own, { image: task.image, workdir: WORKDIR, resources }, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw sandboxUnavailable(error);
  }
}

async function run(
  sandbox: Sandbox,
  command: string,
  options: { signal: AbortSignal; timeoutSeconds: number },
): Promise<SandboxExecResult> {
  const result = await sandbox.exec(command, options);
  if (result.error_type === "sandbox") throw sandboxUnavailable(new Error(result.stderr ?? ""));
  return result;
}

/** The patch of an agent's commits; undefined if the agent has made them unusable. */
async function collected({ sandbox, task: seeded }: Session, task: Task, signal: AbortSignal) {
  if (sandbox === undefined || seeded?.id !== task.id)
    throw new HttpError(
      409,
      `There is no sandbox of this session for the task '${task.id}': call /seed_session first.`,
    );
  try {
    const { command, timeout_sec } = task.collect;
    const { return_code } = await run(sandbox, command, { signal, timeoutSeconds: timeout_sec });
    return return_code === 0 ? await readFile(sandbox, PATCH_FILE, signal) : undefined;
  } finally {
    await sandbox.stop();
  }
}

/** In base64, so that the bytes of a patch stay as they are. */
async function readFile(sandbox: Sandbox, file: string, signal: AbortSignal): Promise<string | undefined> {
  const { stdout, return_code } = await run(sandbox, `base64 -w0 ${file}`, {
    signal,
    timeoutSeconds: STEP_SECONDS,
  });
  return return_code === 0 ? Buffer.from(stdout ?? "", "base64").toString("utf8") : undefined;
}

async function runVerifier(
  sandbox: Sandbox,
  task: Task,
  patch: string,
  signal: AbortSignal,
): Promise<Verdict> {
  const step = { signal, timeoutSeconds: STEP_SECONDS };
  await run(sandbox, "mkdir -p /tests /logs/artifacts /logs/verifier", step);
  for (const [name, text] of Object.entries(task.verifierFiles))
    await sandbox.writeText(`/tests/${name}`, text, { signal });
  await sandbox.writeText(PATCH_FILE, patch, { signal });
  await run(sandbox, "chmod 0755 /tests/test.sh /tests/grader.py", step);
  const { error_type, return_code } = await run(sandbox, "bash /tests/test.sh", {
    signal,
    timeoutSeconds: task.verifierSeconds,
  });
  if (error_type === "timeout")
    return notCompleted(`The verifier exceeded its time limit of ${task.verifierSeconds} s.`);
  const reward = await readFile(sandbox, REWARD_FILE, signal);
  const { return_code: report } = await run(sandbox, `test -f ${REPORT_FILE}`, step);
  return verdictOf(reward ?? null, report === 0, return_code);
}
