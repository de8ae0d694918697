import type { JsonObject } from "nemo-gym";
import { completionOf, type Message, simulation } from "./simulation.ts";

interface Rollout {
  domain: string;
  task: string;
  reward: number;
  reason: string;
  messages: Message[];
}

const TRANSFER = "transfer_to_human_agents";

/** Metrics of tau2-bench over the rollouts of each task. */
export function computeMetrics(tasks: JsonObject[][]): JsonObject {
  const groups = tasks.map((rows) => rows.map(rolloutOf)).filter((rollouts) => rollouts.length > 0);
  const rollouts = groups.flat();
  const metrics: JsonObject = {};
  const add = (name: string, amount = 1) => {
    metrics[name] = Number(metrics[name] ?? 0) + amount;
  };

  const domains = new Set(rollouts.map(({ domain }) => domain));
  const means: number[] = [];
  for (const domain of domains) {
    const own = rollouts.filter((rollout) => rollout.domain === domain);
    const reward = meanReward(own);
    means.push(reward);
    metrics[`${domain}/reward`] = reward;
    metrics[`${domain}/num_samples_total`] = own.length;
    metrics[`${domain}/num_samples_unique`] = groups.filter(([first]) => first?.domain === domain).length;
    for (const { reason } of own) add(`${domain}/trajectory_termination_reason/${reason}/count`);
  }
  if (means.length > 0) metrics["macro_average"] = mean(means);
  const telecom = rollouts.filter(({ domain }) => domain === "telecom");
  for (const subtask of new Set(telecom.map(subtaskOf)))
    if (subtask !== undefined)
      metrics[`telecom/${subtask}/reward`] = meanReward(telecom.filter((one) => subtaskOf(one) === subtask));

  const completions = rollouts
    .flatMap((one) => assistant(one))
    .map(completionOf)
    .filter((completion) => completion !== undefined);
  const share = (name: string, items: readonly unknown[], count: number) => {
    metrics[`${name}/count`] = count;
    if (items.length > 0) metrics[`${name}/pct`] = count / items.length;
  };
  for (const [reason, count] of counts(rollouts.map(({ reason }) => reason)))
    share(`trajectory_termination_reason/${reason}`, rollouts, count);
  for (const [reason, count] of counts(completions.map(({ finish_reason }) => String(finish_reason))))
    share(`message_finish_reason/${reason}`, completions, count);
  share(
    "trajectory_transfer_to_human_agents",
    rollouts,
    rollouts.filter((one) => assistant(one).some(({ tool_calls }) => tool_calls?.[0]?.name === TRANSFER))
      .length,
  );
  share(
    "trajectory_missing_tool_call",
    rollouts,
    rollouts.filter((one) => !assistant(one).some(({ tool_calls }) => tool_calls?.length)).length,
  );
  share(
    "messages_with_incomplete_reasoning",
    completions,
    completions.filter(
      ({ message }) => message?.reasoning_content && !message.content && !isFilled(message.tool_calls),
    ).length,
  );

  metrics["tool_call_hallucination/count/total"] = 0;
  for (const { role, content } of rollouts.flatMap(({ messages }) => messages))
    if (role === "tool" && content?.includes("not found")) {
      const label = content.replace(/^Error: Tool '/, "").replace(/ not found\.$/, "");
      add(`tool_call_hallucination/${label}/count`);
      add("tool_call_hallucination/count/total");
    }
  return metrics;
}

/** Every metric of the benchmark, and the means of numbers in the rows that measure something. */
export function keyMetrics(metrics: JsonObject): JsonObject {
  const settings = /^mean\/(?:seed|verbose_logs|audio_debug|audio_taps|auto_review)$/;
  const own =
    /^(?:macro_average|[^/]+\/(?:reward|num_samples_\w+)|telecom\/.+\/reward|(?:[^/]+\/)?trajectory_\w+\/.+|message_finish_reason\/.+|tool_call_hallucination\/.+|messages_with_incomplete_reasoning\/.+)$/;
  return Object.fromEntries(
    Object.entries(metrics).filter(([name]) =>
      name.startsWith("mean/")
        ? !settings.test(name)
        : own.test(name) && !/^(?:max|min|median|std)\//.test(name),
    ),
  );
}

function rolloutOf(row: JsonObject): Rollout {
  const { config, task, reward, result } = row as {
    config: { domain: string };
    task: { id: unknown };
    reward: number;
    result: unknown;
  };
  const { messages, termination_reason: reason } = simulation.parse(result);
  return { domain: config.domain, task: String(task.id), reward, reason, messages };
}

/** Tasks of telecom are named `[subtask]…`. */
const subtaskOf = ({ task }: Rollout) => /^\[(.*?)\]/.exec(task)?.[1];

const assistant = ({ messages }: Rollout) => messages.filter(({ role }) => role === "assistant");

const isFilled = (value: unknown) => Array.isArray(value) && value.length > 0;

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const meanReward = (rollouts: readonly Rollout[]) => mean(rollouts.map(({ reward }) => reward));

function counts(values: readonly string[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const value of values) found.set(value, (found.get(value) ?? 0) + 1);
  return found;
}
