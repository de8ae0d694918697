import path from "node:path";
import type { RunEvent } from "../../run/door.ts";
import { type ReverifyOptions, reverify } from "../../run/reverify/door.ts";
import type { CommandContext } from "../command.ts";
import { type KeyValues, readKeys } from "../config-keys.ts";
import { CommandKeysError, UsageError } from "../errors.ts";
import { rolloutFile } from "../files.ts";
import { reverifyKeys } from "./keys.ts";
import { exitCodeOf, printReport, printTracked } from "./report.ts";
import { createRunView, followRun, type RunView } from "./run-view.ts";

/** Percentages at which a line is printed. */
const NOTICES = [20, 40, 60, 80, 90, 95, 98, 99, 100];

type Keys = KeyValues<typeof reverifyKeys>;

/** Runs `gym eval reverify`. */
export async function reverifyRollouts(context: CommandContext): Promise<number> {
  const { io, env, installRoot, signal, err, terminal } = context;
  // A model that was chosen is the judge, or the servers refer to it; its address comes from env.yaml as in a run.
  const config = await context.resolve({ noModel: context.flags["model-type"] === undefined });
  const keys = readKeys(reverifyKeys, config);
  const run = reverify(config, {
    ...(await sourceOf(context, keys)),
    materializedInputs: await rolloutFile(context, keys.materialized_inputs_jsonl_fpath, "--inputs"),
    output: path.resolve(io.cwd, keys.output_jsonl_fpath),
    existing: existingOutput(keys),
    force: keys.force,
    judgeFailedOnly: keys.judge_failed_only,
    limit: keys.limit,
    concurrency: keys.num_samples_in_parallel,
    rolloutTimeoutSeconds: keys.rollout_timeout_seconds,
    aggregate: !keys.disable_aggregation,
    drain: signal,
    signal: io.stopSignal,
    roots: context.roots,
    installRoot,
    cwd: io.cwd,
    env,
  });
  const view = createRunView(context, "Verifying rollouts");
  const announce = progressNotices(view);
  try {
    const evaluation = await followRun(run, view, announce);
    const { warning } = evaluation;
    printReport(evaluation, context, { aggregated: !keys.disable_aggregation });
    if (warning !== undefined) err(terminal.yellow(warning));
    printTracked(evaluation.tracked, context);
    return exitCodeOf(evaluation, context);
  } finally {
    view.close();
  }
}

/** The file with the answers. */
async function sourceOf(
  context: CommandContext,
  keys: Keys,
): Promise<Pick<ReverifyOptions, "rollouts" | "atifManifest">> {
  const { input_format: format, rollouts_jsonl_fpath: rollouts, atif_manifest_jsonl_fpath: manifest } = keys;
  if (format === "gym") {
    if (manifest !== undefined)
      throw new UsageError("--atif-manifest is only allowed with --input-format atif");
    if (rollouts === undefined)
      throw new CommandKeysError("missing required configuration: rollouts_jsonl_fpath (--rollouts).");
    return { rollouts: await rolloutFile(context, rollouts, "--rollouts") };
  }
  if (manifest === undefined)
    throw new CommandKeysError(
      "missing required configuration: atif_manifest_jsonl_fpath (--atif-manifest).",
    );
  const others = {
    rollouts,
    judge_failed_only: keys.judge_failed_only,
    append: keys.append,
    force: keys.force,
  };
  const given = Object.entries({ ...others, resume: keys.resume_from_cache }).find(([, value]) => value);
  if (given !== undefined)
    throw new UsageError(`--input-format atif cannot be combined with --${given[0].replaceAll("_", "-")}`);
  return { atifManifest: path.resolve(context.io.cwd, manifest) };
}

function existingOutput(keys: Keys): ReverifyOptions["existing"] {
  if (keys.append && !keys.judge_failed_only)
    throw new UsageError("--append is only allowed with --judge-failed-only");
  if (keys.append && keys.overwrite) throw new UsageError("--append and --overwrite cannot be combined");
  if (keys.resume_from_cache && keys.overwrite)
    throw new UsageError("--resume and --overwrite cannot be combined");
  if (keys.append) return "append";
  if (keys.overwrite) return "overwrite";
  return keys.resume_from_cache ? "resume" : "fresh";
}

/** Prints a line at each percentage of `NOTICES`. */
function progressNotices(view: RunView): (event: RunEvent) => void {
  let next = 0;
  let [done, total] = [0, 0];
  const reached = () => total > 0 && next < NOTICES.length && (100 * done) / total >= (NOTICES[next] ?? 0);
  return (event) => {
    if (event.type === "started") {
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
