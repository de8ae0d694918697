import { PyFloat } from "../../../base/python/numbers/door.ts";
import type { ResponseOutputItem } from "../../../wire/schemas/door.ts";
import type { Row } from "../../files/jsonl-rows.ts";
import { agentNameOf } from "../../files/row-fields.ts";
import type { ExportedRollout } from "./export-records.ts";
import {
  type DriftPolicy,
  sequencesOf,
  TOKEN_PROJECTIONS,
  type TokenFormat,
  type TokenSequence,
  TokenSequenceError,
  tokenCallsOf,
} from "./token-sequences.ts";

/** Formats that consist of token ids only. */
export const TOKEN_ONLY_FORMATS = ["skyrl", "prime-rl"] as const satisfies TokenFormat[];

export function isTokenFormat(format: string): format is TokenFormat {
  return Object.hasOwn(TOKEN_PROJECTIONS, format);
}

/** Fields whose numbers are always floats. */
const FLOAT_FIELDS = new Set([
  "reward",
  "rewards",
  "reward_score",
  "logprobs",
  "response_logprobs",
  "rollout_logprobs",
  "generation_logprobs",
  "temperatures",
]);

/** The training sequences of a rollout as records of a trainer, each with its origin. */
export function tokenRecords(
  { row, task, candidate }: ExportedRollout,
  format: TokenFormat,
  drift: DriftPolicy,
): Row[] {
  const context = {
    reward: candidate.reward,
    environment: agentNameOf(row) ?? "nemo_gym",
    temperature: temperatureOf(row),
    stopReason: stopReasonOf(row),
  };
  return rowSequences(row, drift).map((sequence, index) => ({
    ...(withFloats(TOKEN_PROJECTIONS[format](sequence, context)) as Row),
    task_index: task.taskIndex,
    rollout_index: candidate.rolloutIndex,
    sequence_index: index,
    agent: agentNameOf(row) ?? null,
    ...policyVersions(row),
  }));
}

/** The training sequences of a row; an error without any. */
export function rowSequences(row: Row, drift: DriftPolicy): TokenSequence[] {
  const output = (row["response"] as { output?: unknown } | null | undefined)?.output;
  if (!Array.isArray(output)) throw new TokenSequenceError("'response.output' is not a list");
  const sequences = sequencesOf(tokenCallsOf(output as ResponseOutputItem[]), drift);
  if (sequences.length > 0) return sequences;
  throw new TokenSequenceError(
    "no output item carries token ids (return_token_id_information of the model server)",
  );
}

/** Fields with the prompt, the completion, its mask and its log probabilities. */
const LISTS = {
  trl: ["prompt_ids", "completion_ids", "env_mask", "logprobs"],
  verl: ["prompt_ids", "response_ids", "response_mask", "response_logprobs"],
  skyrl: ["prompt_token_ids", "response_ids", "loss_masks", "rollout_logprobs"],
} as const;

/** Reads the tokens of an exported record. */
export function sequenceOfRecord(format: TokenFormat, record: Row): Omit<TokenSequence, "calls"> {
  if (format === "prime-rl") {
    const mask = (record["mask"] as boolean[]).map(Number);
    const start = mask.indexOf(1);
    const ids = record["token_ids"] as number[];
    const logprobs = record["logprobs"] as number[];
    return sequence(ids.slice(0, start), ids.slice(start), mask.slice(start), logprobs.slice(start));
  }
  if (format === "nemo-rl") {
    const [first, ...log] = record["message_log"] as {
      token_ids: number[];
      generation_logprobs?: number[];
    }[];
    return sequence(
      first?.token_ids ?? [],
      log.flatMap(({ token_ids }) => token_ids),
      log.flatMap(({ token_ids, generation_logprobs }) => token_ids.map(() => (generation_logprobs ? 1 : 0))),
      log.flatMap(({ token_ids, generation_logprobs }) => generation_logprobs ?? token_ids.map(() => 0)),
    );
  }
  const [prompt, completion, mask, logprobs] = LISTS[format].map((name) => record[name] as number[]);
  return sequence(prompt ?? [], completion ?? [], mask ?? [], logprobs ?? []);
}

function sequence(
  prompt_ids: number[],
  completion_ids: number[],
  mask: number[],
  logprobs: number[],
): Omit<TokenSequence, "calls"> {
  return { prompt_ids, completion_ids, mask: mask as (0 | 1)[], logprobs };
}

function withFloats(value: unknown, isFloat = false): unknown {
  if (typeof value === "number") return isFloat && Number.isInteger(value) ? new PyFloat(value) : value;
  if (Array.isArray(value)) return value.map((member) => withFloats(member, isFloat));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, withFloats(member, FLOAT_FIELDS.has(key))]),
  );
}

/** Versions of the policy at the start and the end of the rollout, if the engine reported them. */
function policyVersions(row: Row): Row {
  const usage = (row["response"] as { usage?: Row | null } | null | undefined)?.usage;
  const { ng_policy_version_start: start, ng_policy_version_end: end } = usage ?? {};
  return start === undefined ? {} : { policy_version_start: start, policy_version_end: end };
}

function temperatureOf(row: Row): number {
  const params = row["responses_create_params"] as { temperature?: unknown } | null | undefined;
  return typeof params?.temperature === "number" ? params.temperature : 1;
}

/** The stop reason as engines name it: `length` for a truncated answer. */
function stopReasonOf(row: Row): string {
  const response = row["response"] as { incomplete_details?: { reason?: unknown } | null } | null | undefined;
  const reason = response?.incomplete_details?.reason;
  if (reason === "max_output_tokens") return "length";
  return typeof reason === "string" ? reason : "stop";
}
