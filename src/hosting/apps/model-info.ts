import type { ServerContext } from "../../calls/server-client.ts";
import type { ModelDefinition } from "../../definitions/define-model.ts";
import { convertAnthropicRequest } from "../../wire/convert/convert-anthropic-request.ts";
import { accumulateUsage, type Usage } from "../../wire/convert/usage.ts";
import type { Handler } from "../app.ts";
import { requireObject } from "./request-body.ts";

/** `GET /v1/models`: the one model behind this server, in the form of the OpenAI API. */
export function modelsRoute({ options }: ModelDefinition, server: ServerContext<unknown>): Handler {
  const config = server.config as { model?: unknown };
  const named = options.modelName?.(server.config as never) ?? config.model;
  const id = typeof named === "string" && named !== "" ? named : server.name;
  return () => ({ object: "list", data: [{ id, object: "model", created: 0, owned_by: "nemo-gym" }] });
}

/**
 * `POST /v1/messages/count_tokens`: an estimate by the tokenizer of OpenAI models over the text of the request. The tokenizer of
 * the model itself is not known here.
 */
export function countTokensRoute(): Handler {
  return async (call) => {
    const { instructions, input, tools } = convertAnthropicRequest(requireObject(call.body));
    const { countTokens } = await import("gpt-tokenizer");
    const parts = [instructions ?? "", ...textsOf(input), ...textsOf(tools)];
    return { input_tokens: countTokens(parts.filter(Boolean).join("\n")) };
  };
}

/** Every text in a value, without the names of its fields. Images and files are left out. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value === "string") {
    if (!value.startsWith("data:")) yield value;
  } else if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) yield* textsOf(member);
  }
}

/** Rollouts whose counts are kept; nobody asks for those of agents that count themselves. */
const MAX_ROLLOUTS = 100_000;

/** Counts model calls and their tokens by the rollout in the path, for any caller. */
export class RolloutUsage {
  readonly #usage = new Map<string, Usage>();

  /** Adds one answered call. */
  add(rolloutId: string, usage: Usage | null | undefined): void {
    // An endpoint that reports no usage says nothing about tokens: a sum of zeros would be a wrong number.
    if (usage == null) return;
    const total = accumulateUsage(this.#usage.get(rolloutId) ?? null, { ...usage, ng_model_calls: 1 });
    // Deleted first: the map then has the rollouts in the order of their last calls.
    this.#usage.delete(rolloutId);
    this.#usage.set(rolloutId, total as Usage);
    if (this.#usage.size <= MAX_ROLLOUTS) return;
    for (const oldest of this.#usage.keys()) {
      this.#usage.delete(oldest);
      break;
    }
  }

  /** `POST /ng-rollout/<id>/rollout_usage`: what was counted since it was last asked. */
  readonly route: Handler = ({ rolloutId = "" }) => {
    const usage = this.#usage.get(rolloutId) ?? null;
    this.#usage.delete(rolloutId);
    return { usage };
  };
}
