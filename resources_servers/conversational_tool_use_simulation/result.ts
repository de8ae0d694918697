import type { JsonObject } from "nemo-gym";
import type { Conversation, Label } from "./conversation.ts";
import type { Judgement } from "./judging.ts";

export interface Checked {
  outside: boolean;
  transferred: boolean;
  mismatch: boolean;
  enforced: boolean;
  /** Undefined if the judge was not asked. */
  judgement?: Judgement;
}

/** The reward and what led to it. */
export function resultOf(conversation: Conversation, { judgement, ...transfer }: Checked) {
  const { failure, messages, unreachable } = conversation;
  const reasons = [...(failure ? [failure.reason] : []), ...(judgement?.reasons ?? [])];
  const labels: Label[] = [...(failure ? [failure.label] : []), ...(judgement?.labels ?? [])];
  if (transfer.mismatch && labels.length === 0) labels.push("agent_failure");
  const count = (label: Label) => labels.filter((each) => each === label).length;
  const of = (test: (message: (typeof messages)[number]) => boolean) => messages.filter(test).length;
  const mask = isNotOfTheAgent(labels, reasons);
  return {
    reward: labels.length === 0,
    // Somebody else than the policy failed: nothing is to be learned from the reward.
    ...(mask && { mask_sample: true }),
    instance_config: { mask_sample: mask },
    terminal_state: conversation.terminal,
    result: {
      trajectory: {
        prefill_message_count: conversation.prefilled,
        continuation_start_index: conversation.prefilled,
        terminal_state: conversation.terminal,
        generation_invalid_reason: failure?.reason ?? null,
        messages,
      },
    },
    trajectory_invalid_reasons: reasons,
    failure_labels: labels,
    num_user_messages: of(({ source }) => source === "user"),
    num_agent_messages: of(({ source }) => source === "agent"),
    num_tool_calls: of(({ type }) => type === "tool_call"),
    num_tool_results: of(({ type }) => type === "tool_execution"),
    num_tool_schema_failures: of((item) => item.type === "tool_execution" && !item.schema_valid),
    num_user_failures: count("user_failure"),
    num_agent_failures: count("agent_failure"),
    num_tool_failures: count("tool_failure"),
    outside_policy_scope: transfer.outside,
    transferred: transfer.transferred,
    transfer_ground_truth_enforced: transfer.enforced,
    transfer_ground_truth_mismatch: transfer.mismatch,
    judge_skipped_for_transfer_mismatch: transfer.mismatch && conversation.terminal === "complete",
    judge_generation_error: null,
    judge_diagnostics: judgement?.diagnostics ?? [],
    ...failureMembers(judgement?.error, unreachable),
  };
}

function isNotOfTheAgent(labels: readonly Label[], reasons: readonly string[]): boolean {
  const others: Label[] = ["user_failure", "tool_failure", "verification_generation_error"];
  return (
    labels.some((label) => others.includes(label)) ||
    (labels.includes("trajectory_failure") && reasons.includes("message_generation_error"))
  );
}

/** A judge or a simulator that did not answer is a failure of the rollout. */
function failureMembers(judge: string | undefined, simulator: string | undefined): JsonObject {
  if (judge !== undefined) return { _ng_failure_class: "judge_failed", _ng_failure_judge_error: judge };
  if (simulator === undefined) return {};
  return { _ng_failure_class: "tool_error", _ng_failure_message: `A simulator failed: ${simulator}` };
}
