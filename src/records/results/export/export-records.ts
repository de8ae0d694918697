import { dumpsCompact } from "../../../base/python/json/door.ts";
import { PyFloat } from "../../../base/python/numbers/door.ts";
import type { ChatMessage, TokenInformation } from "../../../wire/schemas/door.ts";
import type { Row } from "../../files/jsonl-rows.ts";
import { agentNameOf } from "../../files/row-fields.ts";
import {
  type ChatConversation,
  type ConversationOptions,
  chatConversationOf,
} from "./export-conversation.ts";
import type { ExportCandidate, SelectedTask } from "./export-selection.ts";

/** A rollout of the selection with its row. */
export interface ExportedRollout {
  row: Row;
  task: SelectedTask;
  candidate: ExportCandidate;
}

/** A number that Python readers parse as a float even when it is an integer. */
export function asPyFloat(value: number): number | PyFloat {
  return Number.isInteger(value) ? new PyFloat(value) : value;
}

export function identity({ row, task, candidate }: ExportedRollout): Row {
  return {
    reward: asPyFloat(candidate.reward),
    task_index: task.taskIndex,
    rollout_index: candidate.rolloutIndex,
    agent: agentNameOf(row) ?? null,
  };
}

/** `sft`: the whole conversation as messages, with its origin. */
export function sftRecord(rollout: ExportedRollout, options: ConversationOptions): Row {
  const conversation = chatConversationOf(rollout.row, options);
  return { messages: messagesOf(conversation), tools: conversation.tools, ...identity(rollout) };
}

/** `chat`: the fine-tuning format of the OpenAI API, and nothing else. */
export function chatRecord(rollout: ExportedRollout, options: ConversationOptions): Row {
  const conversation = chatConversationOf(rollout.row, options);
  return {
    messages: messagesOf(conversation),
    tools: conversation.tools,
    parallel_tool_calls: conversation.parallelToolCalls,
  };
}

/** `trl`: prompt and completion apart, tool arguments as objects for chat templates, and a label for unpaired preferences. */
export function trlRecord(
  rollout: ExportedRollout,
  options: ConversationOptions & { passThreshold: number },
): Row {
  const conversation = chatConversationOf(rollout.row, options);
  return {
    prompt: conversation.prompt.map(withArgumentObjects),
    completion: conversation.completion.map(withArgumentObjects),
    tools: conversation.tools,
    label: rollout.candidate.reward >= options.passThreshold,
    ...identity(rollout),
  };
}

/** `dpo`: one prompt with a better and a worse completion. */
export function dpoRecord(
  chosen: ExportedRollout,
  rejected: ExportedRollout,
  options: ConversationOptions,
): Row {
  const better = chatConversationOf(chosen.row, options);
  const worse = chatConversationOf(rejected.row, options);
  if (JSON.stringify(better.prompt) !== JSON.stringify(worse.prompt)) {
    throw new Error(
      `rollouts ${chosen.candidate.rolloutIndex} and ${rejected.candidate.rolloutIndex} have different prompts`,
    );
  }
  return {
    prompt: better.prompt,
    chosen: better.completion,
    rejected: worse.completion,
    tools: better.tools,
    score_chosen: asPyFloat(chosen.candidate.reward),
    score_rejected: asPyFloat(rejected.candidate.reward),
    task_index: chosen.task.taskIndex,
    chosen_rollout_index: chosen.candidate.rolloutIndex,
    rejected_rollout_index: rejected.candidate.rolloutIndex,
    agent: agentNameOf(chosen.row) ?? null,
  };
}

/** `art`: a Trajectory. Output of the policy is a choice, with its tokens if known; the rest are messages. */
export function artRecord(rollout: ExportedRollout, options: ConversationOptions): Row {
  const conversation = chatConversationOf(rollout.row, { ...options, tokens: true });
  const { reward, ...metadata } = identity(rollout);
  return {
    messages_and_choices: [...conversation.prompt, ...conversation.completion.map(choiceOf)],
    tools: conversation.tools,
    reward,
    metrics: {},
    metadata,
  };
}

function choiceOf(message: ChatMessage): Row | ChatMessage {
  if (message.role !== "assistant") return message;
  const { prompt_token_ids, generation_token_ids, generation_log_probs, ...plain } = message as ChatMessage &
    Partial<TokenInformation>;
  const calls = "tool_calls" in plain && Array.isArray(plain.tool_calls) && plain.tool_calls.length > 0;
  const content = generation_token_ids?.map((id, index) => ({
    token: `token_id:${id}`,
    bytes: null,
    logprob: asPyFloat(generation_log_probs?.[index] ?? 0),
    top_logprobs: [],
  }));
  return {
    finish_reason: calls ? "tool_calls" : "stop",
    index: 0,
    logprobs: content ? { content, refusal: null } : null,
    message: plain,
    ...(prompt_token_ids && generation_token_ids && { prompt_token_ids, token_ids: generation_token_ids }),
  };
}

/** Common fields of the expected answer, most specific first. */
const GROUND_TRUTH_FIELDS = ["ground_truth", "expected_answer", "expected_output", "answer", "label"];

/** `verl`: one row per task: a prompt to roll out again, with the data that its reward function needs. */
export function verlRecord(input: Row, task: SelectedTask): Row {
  const { prompt } = chatConversationOf({
    ...input,
    response: { output: [{ type: "message", role: "assistant", content: "" }] },
  });
  const fields = taskFields(input);
  const truth = GROUND_TRUTH_FIELDS.map((name) => fields[name]).find(
    (value) => value !== undefined && value !== null,
  );
  return {
    data_source: agentNameOf(input) ?? "nemo_gym",
    prompt,
    ability: agentNameOf(input) ?? "nemo_gym",
    reward_model: {
      style: "rule",
      ground_truth: typeof truth === "string" ? truth : dumpsCompact(truth ?? fields),
    },
    extra_info: {
      index: task.taskIndex,
      pass_rate: asPyFloat(task.passRate),
      avg_reward: asPyFloat(task.averageReward),
      num_rollouts: task.total,
      // As text, because rows of one file may have different fields, but columns may not.
      row: dumpsCompact(fields),
    },
  };
}

/** `nemo-rl`: one row per task in the form of a dataset file, with the profile of its rewards. */
export function nemoRlRecord(input: Row, task: SelectedTask): Row {
  const agent = agentNameOf(input);
  return {
    responses_create_params: input["responses_create_params"],
    ...taskFields(input),
    ...(agent !== undefined && { agent_ref: { type: "responses_api_agents", name: agent } }),
    avg_reward: asPyFloat(task.averageReward),
    pass_rate: asPyFloat(task.passRate),
    total_samples: task.total,
  };
}

/** The fields of a task besides the request: the data for its verifier. */
function taskFields(input: Row): Row {
  return Object.fromEntries(Object.entries(input).filter(([name]) => isOwnField(name)));
}

const STANDARD_FIELDS = new Set([
  "responses_create_params",
  "response",
  "reward",
  "agent_ref",
  "skills_ref",
  "mask_sample",
]);

/** Whether a field of a row comes from its dataset or environment, and not from the collector. */
export function isOwnField(name: string): boolean {
  return !name.startsWith("_ng_") && !name.startsWith("ng_") && !STANDARD_FIELDS.has(name);
}

function messagesOf({ prompt, completion }: ChatConversation): ChatMessage[] {
  return [...prompt, ...completion];
}

function withArgumentObjects(message: ChatMessage): Row {
  if (message.role !== "assistant" || !message.tool_calls) return { ...message };
  const calls = message.tool_calls.map((call) => {
    if (call.type !== "function") return call;
    return { ...call, function: { name: call.function.name, arguments: parsed(call.function.arguments) } };
  });
  return { ...message, tool_calls: calls };
}

/** Arguments that are not valid JSON stay text, as the model wrote them. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
