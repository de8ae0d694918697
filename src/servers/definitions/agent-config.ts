import { z } from "zod";
import type { Response, ResponseOutputItem } from "../../wire/schemas/door.ts";
import { laxBool, laxFloat, laxInt } from "../../wire/schemas/lax.ts";
import { toolAccesses } from "./episodes/schemas.ts";
import { tokenDrift } from "./token-drift.ts";

/** A reference to another server of the run. */
const serverRef = <T extends string>(type: T) => z.looseObject({ type: z.literal(type), name: z.string() });

/** `resources_server` of an agent. */
export const resourcesServerRef = serverRef("resources_servers");
/** `model_server` of an agent. */
export const modelServerRef = serverRef("responses_api_models");

/** Default number of consecutive turns without a call or a message after which a rollout of such an agent ends. */
const MAX_EMPTY_TURNS = 10;

/** `max_empty_turns` of an agent that asks again after a turn without a call or a message. */
export const maxEmptyTurns = laxInt().nullable().default(MAX_EMPTY_TURNS);

/** Config keys every agent understands. */
export const agentConfig = z.looseObject({
  skip_verification: laxBool().default(false),
  skip_verification_reward: laxFloat().default(0),
  token_id_capture: laxBool().default(false),
  token_drift: tokenDrift,
  /** How long the close of a session may be repeated. */
  session_close_retry_window_seconds: laxFloat().default(300),
  /** Tools of every session; those of an episode with the same name take precedence. */
  tool_accesses: toolAccesses.default([]),
});

/** Config of an agent that loops between a model and the tools of a resources server. */
export const loopAgentConfig = agentConfig.extend({
  resources_server: resourcesServerRef,
  model_server: modelServerRef,
  /** Maximum number of model calls per rollout; null or 0: no limit. */
  max_steps: laxInt().nullish(),
  /** Number of consecutive turns without a call or a message after which a rollout ends; null or 0: no limit. */
  max_empty_turns: laxInt().nullable().default(1),
});

/**
 * Counts consecutive turns without a call and without a message. If the model is asked again after such a turn, a model
 * that never answers would otherwise be called, and billed, indefinitely.
 */
export class EmptyTurns {
  readonly #most: number;
  #inRow = 0;

  /** No limit when `most` is null or 0. */
  constructor(most: number | null | undefined) {
    this.#most = most || Number.POSITIVE_INFINITY;
  }

  /** Counts a turn. Returns true when the limit is reached. */
  isOver(output: readonly ResponseOutputItem[]): boolean {
    this.#inRow = output.some(isProgress) ? 0 : this.#inRow + 1;
    return this.#inRow >= this.#most;
  }

  get note(): string {
    const times = this.#inRow === 1 ? "" : ` ${this.#inRow} times in a row`;
    return `the model answered${times} without a message or a call (max_empty_turns); its rollout ends as incomplete`;
  }

  /** The response of a rollout that reached the limit. */
  ended<T extends Response>(response: T): T {
    const metadata = {
      ...response.metadata,
      ng_termination_reason: response.output.length > 0 ? "incomplete_reasoning" : "empty_output",
      ng_termination_message: this.note,
    };
    return { ...response, status: "incomplete", metadata };
  }
}

function isProgress(item: ResponseOutputItem): boolean {
  if (item.type === "message") return (item.role ?? "assistant") === "assistant";
  return item.type === "function_call";
}

/** Time limits of single calls within a rollout; null disables a limit. */
export interface CallLimits {
  modelCallMs: number | null;
  toolCallMs: number | null;
}

/** A trainer may pause its model for half an hour. */
const DEFAULT_MODEL_CALL_SECONDS = 3_600;
const DEFAULT_TOOL_CALL_SECONDS = 600;

/** The limits of a run: `model_call_timeout_seconds` and `tool_call_timeout_seconds` of its config. */
export function callLimits(globalConfig: Readonly<Record<string, unknown>>): CallLimits {
  return {
    modelCallMs: milliseconds(globalConfig["model_call_timeout_seconds"], DEFAULT_MODEL_CALL_SECONDS),
    toolCallMs: milliseconds(globalConfig["tool_call_timeout_seconds"], DEFAULT_TOOL_CALL_SECONDS),
  };
}

function milliseconds(value: unknown, fallback: number): number | null {
  if (value === null) return null;
  return (typeof value === "number" && value > 0 ? value : fallback) * 1000;
}
