import path from "node:path";
import { assertRegularFile } from "../../records/files/door.ts";
import { profileRun, profileTasks } from "../../records/results/door.ts";
import { rejectReplacingRun } from "../../run/door.ts";
import type { CommandContext } from "../command.ts";
import { type KeyValues, readKeys } from "../config-keys.ts";
import { rolloutFile, shownPath } from "../files.ts";
import { profileKeys, taskProfileKeys } from "./keys.ts";

const ONE_ROLLOUT =
  "Every task has one rollout, so the spread of its rewards is unknown. Run with --num-repeats N.";

/** Runs `gym eval profile`; with an output or an input, the older form, which writes the task rows. */
export async function profileCommand(context: CommandContext): Promise<number> {
  const config = await context.resolve();
  const isSet = (key: string) => (config.get(key) ?? null) !== null;
  const older =
    isSet("output_jsonl_fpath") ||
    isSet("input_jsonl_fpath") ||
    (isSet("pass_threshold") && !isSet("materialized_inputs_jsonl_fpath"));
  return older
    ? profileByTask(context, readKeys(taskProfileKeys, config))
    : profileFiles(context, readKeys(profileKeys, config));
}

async function profileFiles(context: CommandContext, keys: KeyValues<typeof profileKeys>): Promise<number> {
  const { out, json, signal } = context;
  const { pass_threshold: passThreshold } = keys;
  const { summary, passed, rewardProfilingPath, agentMetricsPath } = await profileRun({
    materializedInputsPath: await rolloutFile(context, keys.materialized_inputs_jsonl_fpath, "--inputs"),
    rolloutsPath: await rolloutFile(context, keys.rollouts_jsonl_fpath, "--rollouts"),
    allowPartialRollouts: keys.allow_partial_rollouts,
    passThreshold,
    signal,
  });
  const rate = passed.total === 0 ? null : passed.passed / passed.total;
  if (json) {
    out(
      JSON.stringify({
        ...summary,
        pass_rate: rate,
        pass_threshold: passThreshold,
        reward_profiling: rewardProfilingPath,
        agent_metrics: agentMetricsPath,
      }),
    );
    return 0;
  }
  const { completed_rollout_rows: completed, expected_rollout_rows: expected } = summary;
  out(
    `Rollouts: ${completed} of ${expected} completed (${summary.reward_profile_completion_pct.toFixed(2)} %)`,
  );
  out(
    `Input rows: ${summary.total_input_rows} in all, ${summary.complete_input_rows} complete, ` +
      `${summary.partial_input_rows} partial, ${summary.missing_input_rows} without rollouts`,
  );
  if (rate !== null)
    out(
      `Pass rate: ${(100 * rate).toFixed(2)} % (${passed.passed} of ${passed.total} rollouts have a reward of ${passThreshold} or more)`,
    );
  if (expected > 0 && expected === summary.total_input_rows) out(ONE_ROLLOUT);
  out(`Profile:       ${shownPath(context, rewardProfilingPath)}`);
  out(`Agent metrics: ${shownPath(context, agentMetricsPath)}`);
  return 0;
}

async function profileByTask(
  context: CommandContext,
  keys: KeyValues<typeof taskProfileKeys>,
): Promise<number> {
  const { out, json, signal, io } = context;
  const outputPath = path.resolve(io.cwd, keys.output_jsonl_fpath);
  await assertRegularFile(outputPath);
  await rejectReplacingRun(outputPath);
  const result = await profileTasks({
    inputPath: await rolloutFile(context, keys.input_jsonl_fpath, "input_jsonl_fpath"),
    rolloutsPath: await rolloutFile(context, keys.rollouts_jsonl_fpath, "rollouts_jsonl_fpath"),
    outputPath,
    passThreshold: keys.pass_threshold,
    signal,
  });
  if (json) {
    out(
      JSON.stringify({
        tasks: result.tasks,
        rollouts: result.rollouts,
        tasks_without_rollouts: result.tasksWithoutRollouts,
        rollouts_without_reward: result.rolloutsWithoutReward,
        output: outputPath,
      }),
    );
    return 0;
  }
  out(`Tasks: ${result.tasks} profiled from ${result.rollouts} rollouts`);
  if (result.tasks > 0 && result.tasks === result.rollouts) out(ONE_ROLLOUT);
  if (result.tasksWithoutRollouts > 0) out(`Left out: ${result.tasksWithoutRollouts} tasks without rollouts`);
  if (result.rolloutsWithoutReward > 0)
    out(`Left out: ${result.rolloutsWithoutReward} rollouts whose reward is not a number`);
  out(`Profile: ${shownPath(context, outputPath)}`);
  return 0;
}
