import type { Cookies } from "../../calls/cookies.ts";
import { isServerCallError } from "../../calls/errors.ts";
import { callServer, type ServerClient } from "../../calls/server-client.ts";
import type { RolloutScope } from "../../definitions/define-agent.ts";
import { errorMessage } from "../../errors.ts";
import { isObject, type JsonObject } from "../../python/json/json-object.ts";
import type { ResponseCreateParams } from "../../wire/schemas/responses.ts";
import { encodeSse } from "../../wire/stream/sse.ts";
import { modelPrefixOf } from "../response-of.ts";
import { type ModelDialect, modelDialects } from "./dialects.ts";
import type { LoopRecord } from "./loop-record.ts";

/** The type of the global `fetch`. Clients of models accept a replacement. */
export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** The settings with which a framework calls the model of the rollout. */
export interface ModelAccess {
  name: string;
  /** Address of the model server with the rollout's prefix and `/v1`. */
  baseUrl: string;
  /** Clients require a key, although model servers of a run do not. */
  apiKey: string;
  /** For the framework's client. It records, counts and limits calls, and reports their root cause. */
  fetch: Fetch;
}

export interface ModelAccessOptions {
  client: ServerClient;
  modelServer: string;
  model: string;
  rollout: RolloutScope;
  params: ResponseCreateParams;
  signal: AbortSignal;
  timeoutMs: number | null;
  /** Maximum number of model calls; null: no limit. */
  maxSteps: number | null;
  record: LoopRecord;
}

/** The loop has reached its limit of model calls. */
export class StepLimitError extends Error {
  constructor(steps: number) {
    super(`the agent has made its ${steps} model calls (max_steps)`);
  }
}

/** Gives one rollout access to its model. */
export function modelAccess(options: ModelAccessOptions): ModelAccess {
  const { client, modelServer, rollout } = options;
  return {
    name: options.model,
    baseUrl: `${client.baseUrl(modelServer)}${modelPrefixOf(rollout)}/v1`,
    apiKey: "local",
    fetch: recordedFetch(options),
  };
}

function recordedFetch(options: ModelAccessOptions): Fetch {
  const { client, modelServer, rollout, params, signal, timeoutMs, maxSteps, record } = options;
  let cookies: Cookies | undefined;
  let asked = 0;
  return async (input, init) => {
    const request = new Request(input, init);
    const route = /\/v1\/[\w/]+$/.exec(new URL(request.url).pathname)?.[0] ?? "";
    const dialect = Object.hasOwn(modelDialects, route) ? modelDialects[route] : undefined;
    if (dialect === undefined || request.method !== "POST")
      return refusal(404, `${request.method} ${route || request.url} is not a route of model servers`);
    const body: unknown = await request.json();
    if (!isObject(body)) return refusal(422, "the body is not a JSON object");
    if (maxSteps && asked >= maxSteps) {
      record.failure = new StepLimitError(maxSteps);
      throw record.failure;
    }
    asked++;
    const startedAt = Date.now();
    rollout.onStage("model", modelServer);
    try {
      const { plain, replay } = dialect.plain({ ...dialect.sampling(params, body), ...body });
      record.outputsIn(dialect.question(plain));
      const reply = await callServer(client, {
        server: modelServer,
        path: `${modelPrefixOf(rollout)}${route}`,
        body: plain,
        stage: "model",
        signal: AbortSignal.any([signal, request.signal]),
        idempotent: true,
        timeoutMs,
        timeoutKey: "model_call_timeout_seconds",
        // Sending the model server's cookie back keeps a conversation on one replica.
        cookies,
      });
      cookies = reply.cookies;
      const answer = reply.json() as JsonObject;
      record.modelCall({ startedAt, question: dialect.question(plain), response: dialect.response(answer) });
      return body["stream"] === true ? streamed(replay(answer)) : Response.json(answer);
    } catch (error) {
      record.failure = error;
      const status = isServerCallError(error) ? error.status : undefined;
      return refusal(status ?? 502, errorMessage(error));
    }
  };
}

/** An error response. The call was already retried, so the framework must not retry it. */
function refusal(status: number, message: string): Response {
  return Response.json({ error: { message } }, { status, headers: { "x-should-retry": "false" } });
}

function streamed(events: ReturnType<ReturnType<ModelDialect["plain"]>["replay"]>): Response {
  return new Response([...events].map(encodeSse).join(""), {
    headers: { "content-type": "text/event-stream; charset=utf-8" },
  });
}
