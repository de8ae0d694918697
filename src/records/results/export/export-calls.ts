import { isObject } from "../../../base/python/json/door.ts";
import { normalizeUsage } from "../../../wire/convert/door.ts";
import type { ResponseOutputItem } from "../../../wire/schemas/door.ts";
import { type CallTokens, callsOf, classifyBoundary } from "../../../wire/tokens/light-door.ts";
import type { Row } from "../../files/jsonl-rows.ts";
import { evidenceOf, type ModelCall } from "../health/evidence.ts";
import { asPyFloat, type ExportedRollout, identity } from "./export-records.ts";

/** `calls`: every model call of a rollout, with its tokens and how its prompt continues the previous call. */
export function callRecords(rollout: ExportedRollout): Row[] {
  const { reward, ...metadata } = identity(rollout);
  let previous: CallTokens | undefined;
  return callsOfRow(rollout.row).map(({ head, tokens }, index) => {
    const boundary = index === 0 ? null : classifyBoundary(previous, tokens).kind;
    previous = tokens;
    return {
      ...metadata,
      call_index: index,
      ...head,
      boundary,
      prompt_token_ids: tokens?.prompt_token_ids ?? null,
      generation_token_ids: tokens?.generation_token_ids ?? null,
      generation_log_probs: tokens?.generation_log_probs?.map(asPyFloat) ?? null,
      reward,
    };
  });
}

/** Calls as recorded (`ng_trajectory`); without a recording, those visible in the output. */
export function callsOfRow(row: Row): { head: ReturnType<typeof headOf>; tokens: CallTokens | undefined }[] {
  const recorded = [...evidenceOf(row).boundCalls].sort((a, b) => (a.started_at ?? 0) - (b.started_at ?? 0));
  if (recorded.length > 0)
    return recorded.map((call) => ({ head: headOf(call), tokens: callsOf(outputOf(call.response)).at(-1) }));
  const { model, output, usage } = isObject(row["response"]) ? row["response"] : {};
  const calls = callsOf(outputOf({ output }));
  // If a rollout has one call, its usage is that of the call.
  const head = headOf({ response: { model, usage: calls.length === 1 ? usage : undefined } });
  return calls.map((tokens) => ({ head, tokens }));
}

/** One model call without its tokens; null for values missing in the row. */
function headOf(call: ModelCall) {
  const { response_metadata: about } = call;
  const { model, usage } = isObject(call.response) ? call.response : {};
  const { ng_policy_version_start: start, ng_policy_version_end: end } = isObject(usage) ? usage : {};
  const { tokens_in, tokens_out } = normalizeUsage(usage);
  return {
    model_call_id: call.model_call_id ?? null,
    model: typeof model === "string" ? model : null,
    finish_reason: about?.finish_reason ?? about?.response_status ?? null,
    started_at: call.started_at ?? null,
    completed_at: call.completed_at ?? null,
    policy_version_start: typeof start === "number" ? start : null,
    policy_version_end: typeof end === "number" ? end : null,
    usage: { input_tokens: tokens_in, output_tokens: tokens_out },
  };
}

function outputOf(response: unknown): ResponseOutputItem[] {
  const output = isObject(response) ? response["output"] : undefined;
  return Array.isArray(output) ? (output as ResponseOutputItem[]) : [];
}
