import { HttpError, optionalPackage } from "../../../base/door.ts";
import { errorMessage } from "../../../base/errors.ts";
import { accumulateUsage, convertAnthropicRequest, type Usage } from "../../../wire/convert/door.ts";
import type { ServerContext } from "../../calls/server-client.ts";
import type { ModelDefinition } from "../../definitions/define-model.ts";
import { LruCache } from "../../definitions/lru-cache.ts";
import type { Handler } from "../app.ts";
import { requireObject } from "../body.ts";

/** `GET /v1/models`: the one model of this server, in the form of the OpenAI API. */
export function modelsRoute({ options }: ModelDefinition, server: ServerContext<unknown>): Handler {
  const config = server.config as { model?: unknown };
  const named = options.modelName?.(server.config as never) ?? config.model;
  const id = typeof named === "string" && named !== "" ? named : server.name;
  return () => ({ object: "list", data: [{ id, object: "model", created: 0, owned_by: "nemo-gym" }] });
}

/**
 * `POST /v1/messages/count_tokens`: an estimate with the tokenizer of OpenAI models over the text of the request. The
 * model's own tokenizer is unknown here.
 */
export function countTokensRoute(): Handler {
  return async (call) => {
    const { instructions, input, tools } = convertAnthropicRequest(requireObject(call.body));
    const { countTokens } = await tokenizer();
    const parts = [instructions ?? "", ...textsOf(input), ...textsOf(tools)];
    return { input_tokens: countTokens(parts.filter(Boolean).join("\n")) };
  };
}

/** 501 without the package: a repeated request would fail too. */
async function tokenizer() {
  try {
    return await optionalPackage("gpt-tokenizer", "/v1/messages/count_tokens", () => import("gpt-tokenizer"));
  } catch (error) {
    throw new HttpError(501, errorMessage(error));
  }
}

/** Every text in a value, without field names. Images and files are skipped. */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value === "string") {
    if (!value.startsWith("data:")) yield value;
  } else if (typeof value === "object" && value !== null) {
    for (const member of Object.values(value)) yield* textsOf(member);
  }
}

/** Maximum number of rollouts with counts; the counts of agents that count themselves are never requested. */
const MAX_ROLLOUTS = 100_000;

/** Counts model calls and their tokens by the rollout in the path, for any caller. */
export class RolloutUsage {
  readonly #usage = new LruCache<Usage>(MAX_ROLLOUTS);

  /** Adds one answered call. */
  add(rolloutId: string, usage: Usage | null | undefined): void {
    // An endpoint without usage does not report tokens: a sum of zeros would be wrong.
    if (usage == null) return;
    const total = accumulateUsage(this.#usage.get(rolloutId) ?? null, { ...usage, ng_model_calls: 1 });
    this.#usage.set(rolloutId, total as Usage);
  }

  /** `POST /ng-rollout/<id>/rollout_usage`: the counts since the last request. */
  readonly route: Handler = ({ rolloutId = "" }) => {
    const usage = this.#usage.get(rolloutId) ?? null;
    this.#usage.delete(rolloutId);
    return { usage };
  };
}
