import { defineResourcesServer, HttpError, type JsonObject } from "nemo-gym";
import { functionCalls, parseArguments, type Response, type ResponseCreateParams } from "nemo-gym/openai";
import { isTruthy, pyEquals } from "nemo-gym/python";
import { z } from "zod";

interface PredictedCall {
  name: string;
  /** undefined when the arguments are not a JSON object. */
  arguments: JsonObject | undefined;
}

/** One tool call, scored on three axes that are reported separately and summed. */
export default defineResourcesServer({
  row: z.object({ expected_call: z.record(z.string(), z.unknown()).default({}) }),
  seed: z.looseObject({ expected_call: z.looseObject({ name: z.string() }) }),
  echo: [],
  reverifyMode: "stateless",
  tools: {
    get_weather: {
      description: "Tell the weather in a city.",
      input: z.object({ city: z.string() }),
      run: ({ input }) => ({
        city: input.city,
        weather_description: `The weather in ${input.city} is sunny.`,
      }),
    },
  },
  verify({ row, response, params }) {
    const calls = functionCalls(response).map(({ name, arguments: text }) => ({
      name,
      arguments: parseObject(text),
    }));
    const components = {
      correctness: calls.some((call) => matches(call, row.expected_call)) ? 1 : 0,
      schema_valid: calls[0] && hasRequired(calls[0], params) ? 1 : 0,
      format: calls.length === 1 && !hasMessage(response) ? 1 : 0,
    };
    return {
      reward: components.correctness + components.schema_valid + components.format,
      reward_components: components,
      ...components,
      predicted_calls: calls.map((call) => ({ name: call.name, arguments: call.arguments ?? {} })),
    };
  },
});

function hasMessage(response: Response): boolean {
  return response.output.some((item) => item.type === "message");
}

function hasRequired(call: PredictedCall, params: ResponseCreateParams): boolean {
  const tool = params.tools?.find(
    (candidate) => candidate.type === "function" && candidate.name === call.name,
  );
  const parameters = (tool as { parameters?: { required?: unknown } | null } | undefined)?.parameters;
  if (parameters === null)
    throw malformedRow(["responses_create_params", "tools"], "a tool needs parameters");
  const required = parameters?.required;
  const given = call.arguments;
  if (!given) return false;
  return !Array.isArray(required) || required.every((key) => Object.hasOwn(given, String(key)));
}

function matches(call: PredictedCall, expected: JsonObject): boolean {
  const { name } = expected;
  if (Object.keys(expected).length === 0 || call.name !== name) return false;
  const wanted = expected["arguments"];
  if (!isTruthy(wanted)) return true;
  if (typeof wanted !== "object" || wanted === null || Array.isArray(wanted)) {
    throw malformedRow(["expected_call", "arguments"], "the expected arguments must be an object");
  }
  return Object.entries(wanted).every(([key, value]) => pyEquals(call.arguments?.[key] ?? null, value));
}

function parseObject(text: string): JsonObject | undefined {
  const parsed = parseArguments(text);
  return parsed.ok ? parsed.value : undefined;
}

function malformedRow(loc: string[], msg: string): HttpError {
  return new HttpError(422, [{ type: "value_error", loc: ["body", ...loc], msg, input: null }]);
}
