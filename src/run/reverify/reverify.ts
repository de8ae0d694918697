import path from "node:path";
import {
  checkOptions,
  flag,
  type OptionTable,
  oneOfWords,
  record,
  seconds,
  signal as signalOption,
  text,
  texts,
  whole,
} from "../../base/check-options.ts";
import { withTemporaryDirectory } from "../../base/files/door.ts";
import { DUMMY_MODEL, type ResolvedConfig } from "../../config/door.ts";
import { installRoot as packageRoot, searchRoots } from "../../config/paths.ts";
import { RolloutError } from "../../records/errors.ts";
import {
  type ArtifactPaths,
  artifactPaths,
  assertRegularFile,
  JsonlWriter,
  type Row,
} from "../../records/files/door.ts";
import { atifRollouts } from "../../records/results/door.ts";
import { failureOf, type ServerClient } from "../../servers/calls/door.ts";
import { lineOf } from "../collect/output-row.ts";
import { eitherSignal, serverSettings } from "../evaluate.ts";
import { gymVersion } from "../gym-version.ts";
import { showingLive } from "../live-run.ts";
import { maxAttemptsFrom } from "../resume/resume.ts";
import { closing } from "../run.ts";
import { type RunConfig, resolveRun } from "../run-config.ts";
import type { EvaluationRun, ScoredRun } from "../run-evaluation.ts";
import { type RunEvent, withEvents } from "../run-events.ts";
import { runSettings } from "../settings.ts";
import { onlyServers, startResolved } from "../start-servers.ts";
import { type RunTracking, startTracking } from "../tracking.ts";
import { ReverifyPlan, type ReverifySources } from "./reverify-plan.ts";
import {
  checkOutput,
  EXISTING_OUTPUT,
  type ExistingOutput,
  scoreAgain,
  unsafeOutput,
} from "./score-again.ts";

export interface ReverifyOptions {
  /** Stored rollouts. */
  rollouts?: string;
  /**
   * Instead of rollouts: a manifest of ATIF trajectories, such as `exportRollouts` writes. Needs `materializedInputs`,
   * and servers that declare that this is safe.
   */
  atifManifest?: string;
  /** Materialized inputs of their run. Default: the file next to the rollouts. */
  materializedInputs?: string;
  /** Where the rollouts with new scores go. With `force`, unsafe scores go to `unsafe_<name>` in the same directory. */
  output: string;
  /** How to treat existing results. Default: `fresh`, which rejects them. */
  existing?: ExistingOutput;
  /** Also scores with servers that do not declare that this is safe. */
  force?: boolean;
  /** Scores only rollouts whose judge could not be reached; copies the others. */
  judgeFailedOnly?: boolean;
  /** Maximum number of rollouts to score. */
  limit?: number;
  /** Concurrent verifications. Default: automatic. */
  concurrency?: number;
  /** Time limit of one verification; null: none. Default: 7200. */
  rolloutTimeoutSeconds?: number | null;
  /** Computes metrics. Default: true. */
  aggregate?: boolean;
  /** Stops everything. */
  signal?: AbortSignal;
  /** Starts no further verifications; running ones may finish. */
  drain?: AbortSignal;
  roots?: readonly string[];
  cwd?: string;
  installRoot?: string;
  env?: Readonly<Record<string, string | undefined>>;
}

const optionTable: OptionTable<ReverifyOptions> = {
  rollouts: text.optional(),
  atifManifest: text.optional(),
  materializedInputs: text.optional(),
  output: text,
  existing: oneOfWords(EXISTING_OUTPUT).optional(),
  force: flag.optional(),
  judgeFailedOnly: flag.optional(),
  limit: whole(0).optional(),
  concurrency: whole(0).nullish(),
  rolloutTimeoutSeconds: seconds.nullish(),
  aggregate: flag.optional(),
  signal: signalOption.optional(),
  drain: signalOption.optional(),
  roots: texts.optional(),
  cwd: text.optional(),
  installRoot: text.optional(),
  env: record.optional(),
};

export interface ReverifyResult extends ScoredRun {
  paths: ArtifactPaths;
  rollouts: undefined;
  /** Why the scores may differ from the original ones; undefined when all servers are safe. */
  warning: string | undefined;
}

/**
 * Scores stored rollouts again with the verifiers of a config. Only judges call models.
 *
 * @example
 * const { summary } = await reverify(config, { rollouts: "run.jsonl", output: "run_again.jsonl" }).result;
 */
export function reverify(config: RunConfig, options: ReverifyOptions): EvaluationRun<ReverifyResult> {
  return withEvents((emit) => showingLive(emit, (emit) => fromEither(config, options, emit)));
}

async function fromEither(
  config: RunConfig,
  options: ReverifyOptions,
  emit: (event: RunEvent) => void,
): Promise<ReverifyResult> {
  checkOptions("reverify", optionTable, options);
  const { rollouts, atifManifest } = options;
  if (atifManifest === undefined && rollouts !== undefined)
    return run(config, { ...options, rollouts }, emit);
  if (atifManifest !== undefined && rollouts === undefined)
    return fromTrajectories(config, { ...options, atifManifest }, emit);
  throw new RolloutError("ROLLOUT_ATIF", "reverify needs either `rollouts` or `atifManifest`.");
}

/** Scores the responses of trajectories as stored rollouts, in a file that exists only meanwhile. */
function fromTrajectories(
  config: RunConfig,
  options: ReverifyOptions & { atifManifest: string },
  emit: (event: RunEvent) => void,
): Promise<ReverifyResult> {
  const { atifManifest, materializedInputs, force, judgeFailedOnly, existing, limit, signal } = options;
  if (
    materializedInputs === undefined ||
    force ||
    judgeFailedOnly ||
    !["fresh", "overwrite", undefined].includes(existing)
  )
    throw new RolloutError(
      "ROLLOUT_ATIF",
      "Trajectories (`atifManifest`) need `materializedInputs`, and cannot be combined with `force`, `judgeFailedOnly`, and resuming or appending.",
    );
  return withTemporaryDirectory("gym-atif-", async (directory) => {
    const rollouts = path.join(directory, "rollouts.jsonl");
    const manifestPath = path.resolve(atifManifest);
    const materializedInputsPath = path.resolve(materializedInputs);
    const file = await JsonlWriter.open(rollouts);
    await closing([file], async () => {
      for await (const row of atifRollouts({ manifestPath, materializedInputsPath, limit, signal }))
        await file.append(lineOf(row));
    });
    return await run(config, { ...options, rollouts }, emit);
  });
}

/** Detects every error that does not need servers before one starts. */
async function run(
  given: RunConfig,
  options: ReverifyOptions & { rollouts: string },
  emit: (event: RunEvent) => void,
): Promise<ReverifyResult> {
  const { existing = "fresh", force = false, judgeFailedOnly = false, limit, drain, signal } = options;
  const { installRoot = packageRoot(), roots = searchRoots({ installRoot }), env = process.env } = options;
  const { rolloutTimeoutSeconds: timeout = runSettings.rolloutTimeoutSeconds.default } = options;
  const { cwd = process.cwd() } = options;
  const notice = (text: string) => emit({ type: "notice", text });
  const stopping = eitherSignal(options);
  const rolloutsPath = path.resolve(options.rollouts);
  const inputs = options.materializedInputs ?? artifactPaths(rolloutsPath).materializedInputs;
  const sources: ReverifySources = {
    rolloutsPath,
    atifManifestPath: options.atifManifest && path.resolve(options.atifManifest),
    materializedInputsPath: path.resolve(inputs),
    judgeFailedOnly,
    limit,
    signal: stopping,
  };
  const asked = path.resolve(options.output);
  await assertRegularFile(asked);
  // With `force` the output name depends on the servers' answers.
  if (!force) checkOutput(asked, sources, existing);
  const { config, definitions } = await resolveRun(given, { noModel: true });
  const plan = await ReverifyPlan.make(sources);
  const serverOf = routing(config, plan.agents);
  const servers = await startResolved(verifiers(config), definitions, {
    roots,
    installRoot,
    head: false,
    logDirectory: path.join(path.dirname(asked), "logs"),
    onEvent: (event) => emit({ type: "server", event }),
    signal: stopping,
  });
  try {
    const used = judgeFailedOnly ? [] : new Set([...plan.agents].map(serverOf));
    const unsafe = await unsafeServers(servers.client, used, stopping);
    if (unsafe !== undefined && !force) throw unsafeError(unsafe);
    const warning =
      unsafe &&
      `Not declared safe for scoring stored rollouts again: ${unsafe}. The scores may differ from those of the rollouts.`;
    if (warning !== undefined) notice(warning);
    const output = unsafe === undefined ? asked : unsafeOutput(asked);
    checkOutput(output, sources, existing);
    let tracking: RunTracking | undefined;
    emit({ type: "status", text: `Verifying ${plan.size} stored rollouts into ${output}` });
    const done = scoreAgain({
      client: servers.client,
      sources,
      plan,
      output,
      existing,
      serverOf,
      limits: {
        concurrency: options.concurrency ?? null,
        maxAttempts: maxAttemptsFrom(env["NEMO_GYM_MAX_ROLLOUT_ATTEMPTS"], notice),
        rolloutTimeoutMs: timeout === null ? null : timeout * 1000,
        runTimeoutMs: null,
      },
      config: decidingConfig(config, sources),
      gymVersion: gymVersion(installRoot),
      aggregate: options.aggregate ?? true,
      onEvent: (event) => {
        if (event.type === "started")
          tracking = startTracking(config, { cwd, env, signal, onWarning: notice });
        emit(event);
      },
      drain,
      signal,
    });
    const { result, summary, paths } = await Promise.race([done, servers.crashed]);
    const tracked = (await tracking?.finish({ summary })) ?? [];
    return { ...result, summary, paths, tracked, rollouts: undefined, warning };
  } finally {
    await servers.close();
  }
}

/**
 * The servers whose scores may differ from the original ones, as text; undefined without such servers. Asks each
 * server whether its verifier needs only stored data; a server without that route is `unknown`.
 */
export async function unsafeServers(
  client: ServerClient,
  servers: Iterable<string>,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const unsafe: string[] = [];
  for (const server of servers) {
    const reply = await client.get(server, "/reverify_mode", { signal });
    const isUnknown = reply.status === 404 || reply.status === 405;
    if (!isUnknown && !reply.ok) throw failureOf(server, "/reverify_mode", "verify", reply);
    const mode = isUnknown ? undefined : reply.json();
    if (mode !== "stateless") unsafe.push(`${server} (${mode === "unsupported" ? mode : "unknown"})`);
  }
  return unsafe.length === 0 ? undefined : unsafe.join(", ");
}

/** The error for servers that may need the session of the rollout to score it again. */
function unsafeError(servers: string): RolloutError {
  return new RolloutError(
    "ROLLOUT_REVERIFY_UNSAFE",
    `These resources servers are not declared safe for scoring stored rollouts again: ${servers}. ` +
      "Their verifiers may need the session of the rollout, which is gone. Use --force to do it anyway; the name of the output then starts with unsafe_.",
  );
}

/** The resources server that scores the rollouts of an agent. */
function routing(config: ResolvedConfig, agents: ReadonlySet<string>): (agent: string) => string {
  const resources = config.servers.filter(({ type }) => type === "resources_servers").map(({ name }) => name);
  const known = config.servers.filter(({ type }) => type === "responses_api_agents");
  if (known.length === 0) {
    const [only] = resources;
    if (only !== undefined && resources.length === 1) return () => only;
    const found = resources.length === 0 ? "none" : resources.join(", ");
    throw new RolloutError(
      "ROLLOUT_REVERIFY_ROUTE",
      `The config has no agents, so exactly one resources server is needed; it has ${found}.`,
    );
  }
  const routes = new Map<string, string>();
  for (const { name, config: block } of known) {
    const server = (block["resources_server"] as { name?: unknown } | undefined)?.name;
    if (typeof server === "string") routes.set(name, server);
  }
  const lost = [...agents].filter((agent) => !routes.has(agent));
  if (lost.length > 0) {
    throw new RolloutError(
      "ROLLOUT_REVERIFY_ROUTE",
      `The rollouts belong to agents that the config does not have, or that have no resources server: ${lost.map((agent) => `'${agent}'`).join(", ")}. Its agents: ${[...routes.keys()].join(", ") || "none"}.`,
    );
  }
  return (agent) => routes.get(agent) ?? "";
}

/** Verifiers and the models that judges ask. Agents are not needed. */
function verifiers(config: ResolvedConfig): ResolvedConfig {
  return onlyServers(
    config,
    ({ type, implementation }) => type !== "responses_api_agents" && implementation !== DUMMY_MODEL,
  );
}

/** Config keys that affect the scores; they must be unchanged when a run is resumed. */
function decidingConfig({ servers }: ResolvedConfig, { judgeFailedOnly, limit }: ReverifySources): Row {
  return {
    reverify: { judge_failed_only: judgeFailedOnly, limit: limit ?? null },
    servers: serverSettings({ servers: servers.filter(({ type }) => type !== "responses_api_agents") }),
  };
}
