import { errorMessage } from "../../base/errors.ts";
import { failure } from "../../base/failures.ts";
import {
  CREATE_PARAM_KEYS,
  parseResponse,
  type Response,
  type ResponseCreateParams,
  type ResponseInputItem,
  trust,
} from "../../wire/schemas/door.ts";
import type { Cookies } from "../calls/cookies.ts";
import { ServerCallError } from "../calls/errors.ts";
import { ROLLOUT_HEADER } from "../calls/rollout-id.ts";
import { callServer, type ServerClient, type ServerReply } from "../calls/server-client.ts";
import type { RolloutScope } from "./define-agent.ts";

const MAX_QUOTED = 500;
const KNOWN_KEYS = new Set(CREATE_PARAM_KEYS);

/** Asks a model server for one turn. Throws an error that quotes the reply when it is not a Response. */
export function callModel(
  client: ServerClient,
  call: {
    modelServer: string;
    params: ResponseCreateParams;
    cookies?: Cookies;
    rollout: RolloutScope;
    signal: AbortSignal;
    timeoutMs?: number | null;
  },
): Promise<ModelTurn> {
  const { modelServer, params, cookies, rollout, signal, timeoutMs } = call;
  rollout.onStage("model", modelServer);
  const reply = callServer(client, {
    server: modelServer,
    path: `${rollout.modelPrefix}/v1/responses`,
    body: trustedParams(params),
    stage: "model",
    signal,
    idempotent: true,
    timeoutMs,
    timeoutKey: "model_call_timeout_seconds",
    cookies,
    headers: rollout.rolloutId === undefined ? undefined : { [ROLLOUT_HEADER]: rollout.rolloutId },
  });
  return reply.then((answer) => turnOf(modelServer, answer));
}

/**
 * The loop only appends items to the params of a parsed request, so they are valid. Params with unknown keys are parsed
 * again, so that the model server rejects them.
 */
function trustedParams(params: ResponseCreateParams): ResponseCreateParams {
  return Object.keys(params).every((key) => KNOWN_KEYS.has(key)) ? trust(params) : params;
}

interface ModelTurn {
  response: Response;
  cookies: Cookies;
}

function turnOf(modelServer: string, reply: ServerReply): ModelTurn {
  try {
    return { response: parseResponse(reply.json(), []), cookies: reply.cookies };
  } catch (error) {
    const message = `${modelServer} did not return a valid Response (${errorMessage(error)}): ${reply.text().slice(0, MAX_QUOTED)}`;
    throw new ServerCallError(
      modelServer,
      undefined,
      failure("invalid_response", message, { stage: "model" }),
      { cause: error },
    );
  }
}

/** The input as a list of items; a text is one user message. */
export function inputItems(params: ResponseCreateParams): ResponseInputItem[] {
  if (typeof params.input !== "string") return [...params.input];
  return [{ role: "user", content: params.input, type: "message" }];
}
