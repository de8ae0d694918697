import path from "node:path";
import { searchRoots } from "../../config/paths.ts";
import type { ResolvedConfig } from "../../config/resolved-config.ts";
import type { RunningServers } from "../../hosting/processes/run-servers.ts";
import { waitingText } from "../../hosting/processes/start-watch.ts";
import { RolloutError } from "../../rollouts/errors.ts";
import { artifactPaths } from "../../rollouts/files/artifact-paths.ts";
import { refuseNonFile } from "../../rollouts/files/output-place.ts";
import { maxAttemptsFrom } from "../../rollouts/resume/resume.ts";
import type { EvaluationEvent } from "../../run/evaluate.ts";
import { checkOutput, type ExistingOutput, reverify, unsafeOutput } from "../../run/reverify/reverify.ts";
import { reverifyModes, unsafeError, unsafeServers } from "../../run/reverify/reverify-guard.ts";
import { ReverifyPlan, type ReverifySources } from "../../run/reverify/reverify-plan.ts";
import { startFromConfig } from "../../run/start-from-config.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { UsageError } from "../usage-error.ts";
import { gymVersion } from "../version.ts";
import { openControl } from "./control.ts";
import { startExport } from "./exporting.ts";
import { reverifyKeys } from "./keys.ts";
import { withServers } from "./metric-servers.ts";
import { exitCodeOf, printReport } from "./report.ts";
import { rolloutFile } from "./rollout-file.ts";
import { createRunView, type RunView } from "./run-view.ts";

/** Shares of the work at which a line appears. */
const NOTICES = [20, 40, 60, 80, 90, 95, 98, 99, 100];

type Keys = ReturnType<typeof readKeys<typeof reverifyKeys>>;

/** Runs `gym eval reverify`. Everything that can be refused is refused before a server starts. */
export async function reverifyRollouts(context: CommandContext): Promise<number> {
  const { io, signal, err, terminal } = context;
  const config = await context.resolve();
  const keys = readKeys(reverifyKeys, config);
  const existing = existingOutput(keys);
  const sources: ReverifySources = {
    materializedInputsPath: await rolloutFile(context, keys.materialized_inputs_jsonl_fpath, "--inputs"),
    rolloutsPath: await rolloutFile(context, keys.rollouts_jsonl_fpath, "--rollouts"),
    judgeFailedOnly: keys.judge_failed_only,
    limit: keys.limit,
    signal,
  };
  const asked = path.resolve(io.cwd, keys.output_jsonl_fpath);
  await refuseNonFile(asked);
  // With --force the name is only known once the servers have been asked.
  if (!keys.force) checkOutput(asked, sources, existing);
  const plan = await ReverifyPlan.make(sources);
  const serverOf = routing(config, plan.agents);
  const servers = await startVerifiers(context, config, path.join(path.dirname(asked), "logs"));
  let view: RunView | undefined;
  try {
    const used = new Set([...plan.agents].map(serverOf));
    const modes = keys.judge_failed_only
      ? new Map<string, "stateless">()
      : await reverifyModes(servers.client, used, { signal });
    const unsafe = unsafeServers(modes);
    if (unsafe !== undefined && !keys.force) throw unsafeError(unsafe);
    const warning = `Not declared safe for scoring stored rollouts again: ${unsafe}. The scores may differ from those of the rollouts.`;
    if (unsafe !== undefined) err(terminal.yellow(warning));
    const output = unsafe === undefined ? asked : unsafeOutput(asked);
    checkOutput(output, sources, existing);
    view = createRunView(context, artifactPaths(output), { label: "Verifying rollouts" });
    const shown = view;
    const exporting = startExport(context, config, (text) => shown.notice(text));
    shown.status(`Verifying ${plan.size} stored rollouts into ${output}`);
    const done = reverify({
      client: servers.client,
      sources,
      plan,
      output,
      existing,
      serverOf,
      limits: {
        concurrency: keys.num_samples_in_parallel ?? null,
        maxAttempts: maxAttemptsFrom(context.env["NEMO_GYM_MAX_ROLLOUT_ATTEMPTS"], (text) =>
          shown.notice(text),
        ),
        rolloutTimeoutMs:
          config.get("rollout_timeout_seconds") === null ? null : keys.rollout_timeout_seconds * 1000,
        runTimeoutMs: null,
      },
      config: decidingConfig(config, keys),
      gymVersion: gymVersion(context.installRoot),
      aggregate: !keys.disable_aggregation,
      onEvent: withNotices(shown, output),
      drain: signal,
      ...(io.stopSignal && { stop: io.stopSignal }),
    });
    const evaluation = await Promise.race([done, servers.crashed]);
    shown.close();
    printReport(evaluation, context, { aggregated: !keys.disable_aggregation });
    if (unsafe !== undefined) err(terminal.yellow(warning));
    await exporting?.finish({ summary: evaluation.summary });
    return exitCodeOf(evaluation, context);
  } finally {
    view?.close();
    await servers.close();
  }
}

function existingOutput(keys: Keys): ExistingOutput {
  if (keys.append && !keys.judge_failed_only)
    throw new UsageError("--append is only allowed with --judge-failed-only");
  if (keys.append && keys.overwrite) throw new UsageError("--append and --overwrite exclude one another");
  if (keys.resume_from_cache && keys.overwrite)
    throw new UsageError("--resume and --overwrite exclude one another");
  if (keys.append) return "append";
  if (keys.overwrite) return "overwrite";
  return keys.resume_from_cache ? "resume" : "fresh";
}

/** Which resources server scores the rollouts of an agent; all agents are looked up at once. */
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
      `The rollouts are of agents that the config does not have, or gives no resources server: ${lost.map((agent) => `'${agent}'`).join(", ")}. Its agents: ${[...routes.keys()].join(", ") || "none"}.`,
    );
  }
  return (agent) => routes.get(agent) ?? "";
}

/** Verifiers and the models that judges ask; agents have nothing to do here. */
async function startVerifiers(
  context: CommandContext,
  config: ResolvedConfig,
  logDirectory: string,
): Promise<RunningServers> {
  const { io, env, installRoot, signal, err, verbose } = context;
  const needed = config.servers.filter(
    ({ type, implementation }) => type !== "responses_api_agents" && implementation !== "dummy_model",
  );
  return startFromConfig(withServers(config, needed), {
    roots: searchRoots({ cwd: io.cwd, env, installRoot }),
    installRoot,
    signal,
    head: false,
    logDirectory,
    onEvent: (event) => {
      if (event.type === "waiting") err(waitingText(event));
      if (event.type !== "log") return;
      if (verbose || event.level === "warn" || event.level === "error")
        err(`(${event.server}) ${event.line}`);
    },
  });
}

function decidingConfig(config: ResolvedConfig, keys: Keys): Record<string, unknown> {
  const servers = config.servers
    .filter(({ type }) => type !== "responses_api_agents")
    .map(({ name, type, implementation, config: block }) => {
      const { host: _host, port: _port, ...rest } = block;
      return [name, { type, implementation, ...rest }];
    });
  return {
    reverify: { judge_failed_only: keys.judge_failed_only, limit: keys.limit ?? null },
    servers: Object.fromEntries(servers) as Record<string, unknown>,
  };
}

/** Passes events to the view, and says when a good part is done. */
function withNotices(view: RunView, output: string): (event: EvaluationEvent) => void {
  let next = 0;
  let [done, total] = [0, 0];
  const reached = () => total > 0 && next < NOTICES.length && (100 * done) / total >= (NOTICES[next] ?? 0);
  return (event) => {
    view.evaluationEvent(event);
    if (event.type === "started") {
      openControl(event.collection, output, view);
      ({ done, total } = event.collection.snapshot());
      while (reached()) next++;
    } else if (event.type === "outcome" && event.outcome.status !== "cancelled" && !event.willRetry) {
      done++;
      if (!reached()) return;
      while (reached()) next++;
      view.status(`${NOTICES[next - 1]} % verified (${done} of ${total})`);
    }
  };
}
