import { homedir } from "node:os";
import { resolve } from "node:path";
import { errorMessage, HttpError, type ServerContext } from "nemo-gym";
import { ProviderError } from "nemo-gym/models";
import { type ChatCompletion, laxBool, laxFloat, laxInt, type Response } from "nemo-gym/openai";
import { z } from "zod";
import { rejectProblems, vllmFields } from "./config.ts";
import { VllmEngine } from "./engine.ts";
import { type AdaptBody, openVllm, type VllmBackend } from "./vllm-backend.ts";

/** The config keys of servers that start their own engine. */
export const localVllmFields = {
  ...vllmFields,
  /** If set, these engines are used and none is started. */
  base_url: z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .transform((given) => [given ?? []].flat().filter((url) => url !== "")),
  api_key: z.string().nullish().default("dummy"),
  /** Options of `vllm serve`, in snake_case. */
  vllm_serve_kwargs: z.record(z.string(), z.unknown()),
  vllm_serve_env_vars: z.record(z.string(), z.coerce.string()),
  /** Folder for models; by default `HF_HOME` of the environment. */
  hf_home: z.string().nullish(),
  /** The program to start. */
  vllm_executable: z.string().default("vllm"),
  /** Seconds until the engine must respond; null means no limit. */
  startup_timeout_seconds: laxFloat().nullable().default(7_200),
  /** Maximum number of restarts of an engine that dies. */
  max_restarts: laxInt().default(3),
  /** Shows the output of the engine. */
  show_vllm_engine_stats: laxBool().default(false),
  debug: laxBool().default(false),
};

const schema = z.looseObject(localVllmFields);
export type LocalVllmConfig = z.output<typeof schema>;

/** Rejects settings that do not work with an own engine; for `superRefine`. */
export function rejectLocalProblems(
  config: Partial<LocalVllmConfig> & { num_workers?: unknown },
  context: z.RefinementCtx,
): void {
  rejectProblems(config, context);
  if (!(Number(config.num_workers) > 1) || (config.base_url?.length ?? 0) > 0) return;
  const message =
    "each worker would start an engine of its own; give the workers to a local_vllm_model_proxy";
  context.addIssue({ code: "custom", path: ["num_workers"], message });
}

// Registered before the start: an interrupted start must not leave an engine behind.
const engines = new WeakMap<object, VllmEngine>();

type Call<Method extends "responses" | "chat"> = Parameters<VllmBackend[Method]>[0];

/** A backend with its own engine, which may exit while calls wait for it. */
class LocalVllm {
  readonly backend: VllmBackend;
  readonly engine: { base_url: string[]; api_key: string; model: string };
  readonly #gone: AbortSignal | undefined;

  constructor(parts: { backend: VllmBackend; engine: LocalVllm["engine"]; gone: AbortSignal | undefined }) {
    this.backend = parts.backend;
    this.engine = parts.engine;
    this.#gone = parts.gone;
  }

  responses(call: Call<"responses">): Promise<Response> {
    return this.#whileItLives(call.signal, (signal) => this.backend.responses({ ...call, signal }));
  }

  chat(call: Call<"chat">): Promise<ChatCompletion> {
    return this.#whileItLives(call.signal, (signal) => this.backend.chat({ ...call, signal }));
  }

  /** Fails calls at once if the engine does not come back; otherwise they would wait as long as for an outage. */
  async #whileItLives<T>(given: AbortSignal, task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const gone = this.#gone;
    if (!gone) return task(given);
    const both = new AbortController();
    const stop = (): void => both.abort(given.aborted ? given.reason : gone.reason);
    const signals = [given, gone];
    if (signals.some(({ aborted }) => aborted)) stop();
    for (const signal of signals) signal.addEventListener("abort", stop);
    try {
      return await task(both.signal);
    } catch (error) {
      if (!gone.aborted || given.aborted) throw error;
      const message = errorMessage(gone.reason);
      throw new ProviderError({ class: "connection", retryable: false, message, cause: error });
    } finally {
      for (const signal of signals) signal.removeEventListener("abort", stop);
    }
  }
}

/** Starts the engine of a server's config, or connects to the configured one. */
export async function openLocalVllm(
  server: ServerContext<LocalVllmConfig>,
  adaptBody?: AdaptBody,
): Promise<LocalVllm> {
  const { config } = server;
  const own = config.base_url.length === 0 ? await startEngine(server) : undefined;
  const base_url = own ? [own.baseUrl] : config.base_url;
  const engine = { base_url, api_key: config.api_key ?? "", model: config.model };
  const backend = await openVllm(server, { engine, ...(adaptBody && { adaptBody }) });
  return new LocalVllm({ backend, engine, gone: own?.gone });
}

async function startEngine(server: ServerContext<LocalVllmConfig>): Promise<VllmEngine> {
  const engine = new VllmEngine(engineOptions(server));
  engines.set(server, engine);
  try {
    await engine.start();
  } catch (error) {
    await engine.stop();
    throw error;
  }
  return engine;
}

/** Information for a proxy, which polls until the engine is ready. */
export function innerConfig(local: LocalVllm | undefined): LocalVllm["engine"] {
  if (!local) throw new HttpError(503, "the engine is starting");
  return local.engine;
}

/** Stops what `openLocalVllm` started, even if the start did not finish. */
export async function closeLocalVllm(server: ServerContext<LocalVllmConfig>, local: LocalVllm | undefined) {
  local?.backend.close();
  await engines.get(server)?.stop();
}

const SECRET = /key|token|secret|password/i;
/** Engine options that this server sets itself; the original overrides them too. */
const OWN_OPTIONS = ["model", "host", "port"] as const;

function engineOptions({ config, globalConfig, log }: ServerContext<LocalVllmConfig>) {
  const { hf_token: token } = globalConfig;
  const env: Record<string, string> = { ...config.vllm_serve_env_vars };
  const serveOptions: Record<string, unknown> = { ...config.vllm_serve_kwargs };
  for (const name of OWN_OPTIONS) {
    if (serveOptions[name] !== undefined)
      log.warn(`vllm_serve_kwargs.${name} has no effect: the server sets it`);
    delete serveOptions[name];
  }
  if (config.hf_home) {
    const home = resolve(config.hf_home.replace(/^~(?=\/|$)/, homedir()));
    env["HF_HOME"] ??= home;
    serveOptions["download_dir"] ??= resolve(home, "hub");
  }
  if (typeof token === "string" && token !== "") env["HF_TOKEN"] ??= token;
  const secrets = [...Object.entries(env), ...Object.entries(serveOptions)]
    .filter(([name]) => SECRET.test(name))
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter((value): value is string => typeof value === "string");
  return {
    executable: config.vllm_executable,
    model: config.model,
    serveOptions,
    env,
    secrets,
    startupTimeoutMs: config.startup_timeout_seconds === null ? null : config.startup_timeout_seconds * 1000,
    maxRestarts: config.max_restarts,
    verbose: config.debug || config.show_vllm_engine_stats,
    log,
  };
}
