import { setMaxListeners } from "node:events";
import { allAssistantText, HttpError, type JsonObject, JudgeError, sleep } from "nemo-gym";
import { outputText, type Response } from "nemo-gym/openai";
import { isObject, strip } from "nemo-gym/python";
import { type Judge, type JudgeMessage, judgeErrorStatus } from "nemo-gym/verify";
import type { Config } from "./config.ts";
import { type Comparison, parseComparison } from "./parse.ts";
import { type Compared, metricsOf, rewardsOf } from "./rewards.ts";

export interface Group {
  readonly conversation: readonly JudgeMessage[];
  readonly principle: string | null;
  readonly responses: readonly Response[];
}

export interface GroupResult extends JsonObject {
  rewards: number[];
  comparison_results: Compared[] | null;
  metrics: JsonObject | null;
}

/** Compares the responses of a group in pairs and scores each of them. */
export async function compareGroup(
  judge: Judge,
  config: Config,
  { conversation, principle, responses }: Group,
  signals: { signal: AbortSignal; countedFor: AbortSignal },
): Promise<GroupResult> {
  if (responses.length < 2) {
    return { rewards: responses.map(() => config.default_score), comparison_results: null, metrics: null };
  }
  const texts = responses.map((response) => ({
    answer: outputText(response),
    reasoning: reasoningOf(response),
  }));
  const shown = texts.map(({ answer }) => (strip(answer) === "" ? "None" : answer));
  const stop = new AbortController();
  const signal = AbortSignal.any([signals.signal, stop.signal]);
  // Every comparison listens to it.
  setMaxListeners(0, signal);
  const calls = pairsOf(config, responses.length).map(async (pair): Promise<Compared> => {
    const metadata = {
      response_1: judge.fit(shown[pair.response_i] ?? ""),
      response_2: judge.fit(shown[pair.response_j] ?? ""),
      ...(config.use_principle && { principle: principle ?? config.default_principle }),
    };
    const options = { signal, countedFor: signals.countedFor };
    return { ...pair, ...(await askWithRetries(judge, config, conversation, metadata, options)) };
  });
  try {
    const results = await Promise.all(calls);
    return {
      rewards: rewardsOf(results, texts, config),
      comparison_results: results,
      metrics: metricsOf(results),
    };
  } finally {
    // One failed comparison fails the group.
    stop.abort();
  }
}

function pairsOf({ comparison_strategy, num_judges_per_comparison }: Config, count: number) {
  const indices = Array.from({ length: count }, (_, index) => index);
  const pairs = indices.flatMap((i) =>
    comparison_strategy === "circular"
      ? [[i, (i + 1) % count] as const]
      : indices.slice(i + 1).map((j) => [i, j] as const),
  );
  return Array.from({ length: num_judges_per_comparison }, (_, judge_idx) =>
    pairs.map(([response_i, response_j]) => ({ response_i, response_j, judge_idx })),
  ).flat();
}

/** Replies that cannot be read are asked for again, and then replaced by the default scores. */
async function askWithRetries(
  judge: Judge,
  config: Config,
  conversation: readonly JudgeMessage[],
  metadata: JsonObject,
  { signal, countedFor }: { signal: AbortSignal; countedFor: AbortSignal },
): Promise<Comparison> {
  const { default_score, default_ranking } = config;
  const defaults = { score_1: default_score, score_2: default_score, ranking: default_ranking };
  let answered = false;
  for (let retriesLeft = config.genrm_parse_retries; ; retriesLeft--) {
    try {
      const { verdict, response, output } = await judge.ask(conversation, {
        signal,
        countedFor,
        params: { metadata },
        parse: (_, reply) => parseComparison(allAssistantText(reply), defaults),
      });
      if (verdict) return verdict;
      const isCompleted = (response["status"] ?? "completed") === "completed";
      if (isCompleted && allAssistantText({ output }) !== "") answered = true;
    } catch (error) {
      signal.throwIfAborted();
      if (retriesLeft === 0 || !isTransient(judgeErrorStatus(error))) throw error;
    }
    if (retriesLeft === 0) break;
    await sleep(config.genrm_parse_retry_sleep_s * 1000, signal);
  }
  if (!answered) throw new JudgeError("The reward model answered with an empty text.");
  return defaults;
}

/** Without a status the connection failed. */
function isTransient(status: number | undefined): boolean {
  return status === undefined || status === 408 || status === 429 || status >= 500;
}

function reasoningOf({ output }: Response): string {
  return output
    .flatMap((item) => (item.type === "reasoning" && Array.isArray(item.summary) ? item.summary : []))
    .map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}

/** A failed reward model as an answer of `/compare`, which has no rollout to fail. */
export function unavailable(error: unknown): never {
  if (error instanceof JudgeError) throw new HttpError(503, error.message, { cause: error });
  throw error;
}
