import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseRow, type Row, readLineBatches } from "../../rollouts/files/jsonl-rows.ts";
import type { ResponseOutputItem } from "../../wire/schemas/item-types.ts";
import { type CallTokens, callsOf } from "../../wire/tokens/token-continuity.ts";
import { callsOfRow } from "./export-calls.ts";

/** Formats with the token ids of each model call. */
export const CALL_FORMATS = ["art", "atif", "calls"] as const;
export type CallFormat = (typeof CALL_FORMATS)[number];

/** A record of an export and its rollout. */
export interface ExportedRecord {
  where: string;
  taskIndex: number;
  rolloutIndex: number;
  record: Row;
}

/** The records of an export, read from disk. */
export async function* exportedRecords(
  path: string,
  format: string,
  signal?: AbortSignal,
): AsyncGenerator<ExportedRecord> {
  const lines = format === "atif" ? join(path, "manifest.jsonl") : path;
  for await (const batch of readLineBatches(lines, { signal })) {
    for (const line of batch) {
      const row = parseRow(lines, line);
      if (format === "atif") {
        const file = join(path, String(row["trajectory_path"]));
        const record = JSON.parse(await readFile(file, "utf8")) as Row;
        const { _ng_task_index: task, _ng_rollout_index: rollout } = row;
        yield { where: file, taskIndex: Number(task), rolloutIndex: Number(rollout), record };
        continue;
      }
      const { task_index, rollout_index } = (format === "art" ? row["metadata"] : row) as Row;
      const where = `${lines}:${line.number}`;
      yield { where, taskIndex: Number(task_index), rolloutIndex: Number(rollout_index), record: row };
    }
  }
}

/** The calls with token ids in a record. */
export function callsOfRecord(format: CallFormat, record: Row): CallTokens[] {
  switch (format) {
    case "calls":
      return record["generation_token_ids"] === null ? [] : [record as unknown as CallTokens];
    case "art":
      return (record["messages_and_choices"] as Row[]).flatMap((choice) => {
        if (!Array.isArray(choice["token_ids"])) return [];
        const { content } = choice["logprobs"] as { content: { token: string; logprob: number }[] };
        return {
          prompt_token_ids: choice["prompt_token_ids"] as number[],
          // Both fields with ids must agree; a difference becomes an id that is not a number.
          generation_token_ids: content.map(({ token }, index) =>
            token === `token_id:${(choice["token_ids"] as number[])[index]}`
              ? Number(token.slice(9))
              : Number.NaN,
          ),
          generation_log_probs: content.map(({ logprob }) => logprob),
        };
      });
    case "atif":
      return (record["steps"] as Row[]).flatMap(({ metrics }) => {
        const { prompt_token_ids, completion_token_ids, logprobs } = (metrics ?? {}) as Row;
        if (!Array.isArray(completion_token_ids)) return [];
        return {
          prompt_token_ids: prompt_token_ids as number[],
          generation_token_ids: completion_token_ids as number[],
          generation_log_probs: logprobs as number[],
        };
      });
  }
}

/** The calls that a record must contain. */
export function callsOfRollout(format: CallFormat, row: Row, record: Row): CallTokens[] {
  if (format === "calls") {
    const call = callsOfRow(row)[Number(record["call_index"])]?.tokens;
    return call ? [call] : [];
  }
  const items = format === "atif" ? conversationOf(row) : (row["response"] as Row | undefined)?.["output"];
  return callsOf((items ?? []) as ResponseOutputItem[]).filter((call) => call !== undefined);
}

function conversationOf(row: Row): unknown {
  const [invocation] = (row["ng_trajectory"] as { invocations: Row[] }).invocations;
  return invocation?.["conversation"];
}
