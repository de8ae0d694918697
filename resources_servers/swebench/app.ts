import { defineResourcesServer, HttpError, type ServerContext } from "nemo-gym";
import { sandboxUnavailable } from "nemo-gym/code-runner";
import { laxBool, laxFloat } from "nemo-gym/openai";
import {
  openSandbox,
  type Sandbox,
  type SandboxServer,
  type SandboxSpecInput,
  sandboxConfig,
  shellQuote,
} from "nemo-gym/sandbox";
import { z } from "zod";
import { terminalTool, typeInto } from "../../libraries/terminal/terminal-tool.ts";
import { removeFuture } from "./anti-cheating.ts";
import { evaluate, run } from "./evaluate.ts";
import { Instance, imageOf, resourcesOf, WORKDIR } from "./instance.ts";

const Config = z.object({
  sandbox_provider: sandboxConfig.sandbox_provider,
  /** The spec of every sandbox: ttl_s, ready_timeout_s, resources, env, metadata, provider_options. */
  sandbox_config: sandboxConfig.sandbox_spec,
  /** The image of an instance, with `{instance_id}`; default: the published one. */
  image_template: z.string().nullish(),
  /** Seconds for one call of the tool `bash`. */
  tool_timeout: laxFloat().default(120),
  /** Evaluates the reference solution of the rows, to test the environment itself. */
  is_verifying_golden_patch: laxBool().default(false),
  apply_anti_cheating: laxBool().default(true),
  /** Seconds for the tests of an instance. */
  evaluation_timeout: laxFloat().default(1800),
  /** A key of the original without effect: the output of the tests is in the result. */
  clear_swebench_debug_logs: z.unknown().optional(),
});
type Config = z.output<typeof Config>;

type Open = typeof openSandbox;
interface Session {
  sandbox?: Sandbox;
}

/** Repairs of real repositories: an agent changes files in a sandbox, and the tests of the instance decide in a second one. */
export const swebench = (open: Open) =>
  defineResourcesServer({
    config: Config,
    row: Instance,
    echo: ["instance_id"],
    reverifyMode: "unsupported",
    boundSessions: true,
    async session({ row, config, server, signal }): Promise<Session> {
      const sandbox = await start(open, server, row, signal);
      try {
        if (config.apply_anti_cheating) {
          await run(sandbox, "pwd", { signal });
          const problem = await removeFuture(sandbox, signal);
          if (problem !== undefined)
            server.log.warn(`${row.instance_id}: the history after the base commit may remain: ${problem}`);
        }
        return { sandbox };
      } catch (error) {
        await sandbox.stop();
        throw error;
      }
    },
    unseeded: (): Session => ({}),
    closeSession: ({ session }) => session.sandbox?.stop(),
    tools: {
      terminal: {
        ...terminalTool,
        run: ({ input, session, signal }) => typeInto(seeded(session), input, signal),
      },
      bash: {
        description: "Run a command in the repository, with a new bash. Changes of files remain.",
        input: z.object({ command: z.string() }),
        async run({ input, session, config, signal }) {
          const sandbox = seeded(session);
          const command = `exec bash -c ${shellQuote(input.command)} 2>&1`;
          const options = { signal, cwd: WORKDIR, timeoutSeconds: config.tool_timeout };
          const { stdout, return_code, error_type } = await run(sandbox, command, options);
          const output = (stdout ?? "").slice(-TOOL_CHARACTERS);
          return `${output}\n[${error_type === null ? `exit code ${return_code}` : `ended: ${error_type}`}]`;
        },
      },
    },
    seedReply: ({ session: { sandbox } }) => ({ sandbox_handle: sandbox?.id ?? null }),
    async verify({ config, row, session, server, signal }) {
      const own = session.sandbox;
      if (own === undefined && !config.is_verifying_golden_patch)
        throw new HttpError(409, "There is no sandbox of this session: call /seed_session first.");
      const opened = performance.now();
      const fresh = await start(open, server, row, signal);
      const openSeconds = (performance.now() - opened) / 1000;
      try {
        await run(fresh, "pwd", { signal });
        const patch =
          config.is_verifying_golden_patch || own === undefined ? row.patch : await changesIn(own, signal);
        await own?.stop();
        const started = performance.now();
        const { evaluation_completed, resolved, test_output } = await evaluate(fresh, row, patch, {
          timeoutSeconds: config.evaluation_timeout,
          signal,
          debug: (line) => server.log.debug(line),
        });
        return {
          reward: resolved ? 1 : 0,
          ...{ evaluation_completed, resolved, test_output, log_dir: "" },
          model_patch: patch === "" ? null : patch,
          eval_sandbox_start_time_taken: openSeconds,
          patch_verification_time_taken: (performance.now() - started) / 1000,
        };
      } finally {
        await fresh.stop();
      }
    },
  });

function seeded({ sandbox }: Session): Sandbox {
  if (sandbox === undefined) throw new HttpError(409, "There is no sandbox: call /seed_session first.");
  return sandbox;
}

const TOOL_CHARACTERS = 16_000;

export default swebench(openSandbox);

async function start(
  open: Open,
  server: ServerContext<Config>,
  row: Instance,
  signal: AbortSignal,
): Promise<Sandbox> {
  const { sandbox_provider, sandbox_config } = server.config;
  const own = serverOf(server, { sandbox_provider, sandbox_spec: sandbox_config });
  const spec: SandboxSpecInput = {
    image: imageOf(row, server.config.image_template),
    workdir: WORKDIR,
    resources: resourcesOf(row),
  };
  try {
    return await open(own, spec, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw sandboxUnavailable(error);
  }
}

const servers = new WeakMap<object, SandboxServer>();

/** The same object each time, because sandboxes of one server share a provider. */
function serverOf(server: ServerContext<Config>, config: object): SandboxServer {
  let found = servers.get(server);
  if (found === undefined) {
    found = { name: server.name, globalConfig: server.globalConfig, config };
    servers.set(server, found);
  }
  return found;
}

/** What an agent has changed; a command that fails gives nothing, as in the original. */
async function changesIn(sandbox: Sandbox, signal: AbortSignal): Promise<string> {
  const { stdout, return_code } = await run(sandbox, `cd ${WORKDIR} && git --no-pager diff`, { signal });
  return return_code === 0 ? (stdout ?? "") : "";
}
