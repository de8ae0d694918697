import { type JsonObject, type Judge, JudgeError, sleep } from "nemo-gym";
import { outputText } from "nemo-gym/openai";
import { type Criterion, readVote, type Vote } from "./rubric.ts";

const MAX_SAMPLES = 3;
const MAX_DELAY_SECONDS = 8;
const MAX_OUTPUT_TOKENS = 32_768;

export interface JudgeLimits {
  /** Votes that decide a criterion. */
  votes: number;
  /** Calls to get them. */
  attempts: number;
  /** `max_output_tokens` of the first call; longer replies are asked for if it was not enough. */
  maxOutputTokens: number | undefined;
  delayUnitMs: number;
}

/** The votes about one criterion. The names are those of the result. */
export async function judgeCriterion(
  judge: Judge,
  criterion: Criterion,
  prompt: string,
  limits: JudgeLimits,
  signal: AbortSignal,
) {
  const votes: Vote[] = [];
  const failures: string[] = [];
  let apiFailures = 0;
  let attempts = 0;
  let maxOutputTokens = limits.maxOutputTokens;
  while (votes.length < limits.votes && attempts < limits.attempts) {
    attempts++;
    try {
      const params: JsonObject = maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens };
      const reply = await judge.ask(prompt, {
        signal,
        params,
        parse: (_, { output }) => readVote(outputText({ output })),
      });
      if (reply.verdict) {
        votes.push(reply.verdict);
        continue;
      }
      const text = outputText(reply);
      failures.push(text);
      const details = reply.response["incomplete_details"] as { reason?: unknown } | null | undefined;
      if (maxOutputTokens !== undefined && (text === "" || details?.reason === "max_output_tokens"))
        maxOutputTokens = Math.max(maxOutputTokens, Math.min(2 * maxOutputTokens, MAX_OUTPUT_TOKENS));
    } catch (error) {
      if (!(error instanceof JudgeError)) throw error;
      apiFailures++;
      failures.push(error.message);
    }
    if (attempts < limits.attempts)
      await sleep(Math.min(2 ** failures.length, MAX_DELAY_SECONDS) * limits.delayUnitMs, signal);
  }
  const isResolved = votes.length >= limits.votes;
  const votesFor = votes.filter(({ score }) => score === 1).length;
  return {
    ...criterion,
    score: isResolved ? Number(votesFor > votes.length / 2) : null,
    votes: votes.map(({ score }) => score),
    votes_for: votesFor,
    votes_against: votes.length - votesFor,
    unanimous: isResolved ? votesFor === 0 || votesFor === votes.length : null,
    attempts_used: attempts,
    parse_failures: failures.length - apiFailures,
    api_failures: apiFailures,
    evidence: votes.map(({ evidence }) => evidence),
    reasons: votes.map(({ reason }) => reason),
    failed_reply_samples: failures.slice(0, MAX_SAMPLES),
    error: isResolved ? null : `${votes.length} of ${limits.votes} votes in ${attempts} calls`,
  };
}

export type Judgement = Awaited<ReturnType<typeof judgeCriterion>>;
