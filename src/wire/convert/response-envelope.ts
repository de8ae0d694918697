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

/** The fields of a response that do not come from its request. */
export interface EnvelopeOptions {
  /** The model name in the response. Default: the model of the request. */
  model?: string;
  createdAt: number;
  newId?: NewId;
}

/** Creates a Response without output that repeats the settings of its request. Fails if no model is given. */
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
