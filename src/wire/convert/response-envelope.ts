import { type NewId, newId } from "../ids.ts";
import type { Response, ResponseCreateParams } from "../schemas/responses.ts";
import { ValidationError } from "../schemas/validation.ts";

const ECHOED = [
  "instructions",
  "metadata",
  "temperature",
  "top_p",
  "background",
  "max_output_tokens",
  "max_tool_calls",
  "previous_response_id",
  "prompt",
  "reasoning",
  "service_tier",
  "text",
  "top_logprobs",
  "truncation",
  "user",
] as const satisfies (keyof ResponseCreateParams & keyof Response)[];

/** What a response does not take from its request. */
export interface EnvelopeOptions {
  /** The name the response carries; the request's model unless given. */
  model?: string;
  createdAt: number;
  newId?: NewId;
}

/** A Response without output that echoes its request's settings; fails where no model is named. */
export function responseEnvelope(request: ResponseCreateParams, options: EnvelopeOptions): Response {
  const model = options.model ?? request.model;
  if (model == null) {
    throw new ValidationError([
      { type: "string_type", loc: ["model"], msg: "Input should be a valid string", input: null },
    ]);
  }
  const echoed: Partial<Record<(typeof ECHOED)[number], unknown>> = {};
  for (const name of ECHOED) echoed[name] = request[name] ?? null;
  return {
    id: (options.newId ?? newId)("resp"),
    created_at: options.createdAt,
    model,
    object: "response",
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    tool_choice: request.tool_choice ?? "auto",
    tools: request.tools ?? [],
    ...(echoed as Partial<Response>),
  };
}
