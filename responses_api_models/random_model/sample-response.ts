import {
  type FunctionTool,
  type RandomSource,
  type Response,
  type ResponseCreateParams,
  type ResponseOutputItem,
  sampleSchema,
} from "nemo-gym/openai";

export interface SampleOptions {
  model: string;
  tool_call_rate: number;
  invalid_call_rate: number;
  max_tool_turns: number;
}

/** Characters per token, for a plausible usage. */
const CHARACTERS_PER_TOKEN = 4;
const ANSWERS = ["yes", "no", "I do not know.", "42", "The answer is blue.", "Paris"];

/** Samples a response: tool calls that match their schemas, an answer in the requested format, or plain words. */
export function sampleResponse(
  params: ResponseCreateParams,
  options: SampleOptions,
  random: RandomSource,
): Response {
  const hex = () => randomHex(random);
  const tools = (params.tools ?? []).filter((tool): tool is FunctionTool => tool.type === "function");
  const output: ResponseOutputItem[] = [];
  if (tools.length > 0 && wantsTool(params, options, random)) {
    const { name, arguments: text } = sampleCall(tools, options, random);
    const id = `call_${hex()}`;
    output.push({ type: "function_call", id, call_id: id, name, arguments: text, status: "completed" });
  } else {
    const text = sampleAnswer(params, random);
    output.push({
      type: "message",
      id: `msg_${hex()}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    });
  }
  const inputTokens = tokensOf(params.input);
  const outputTokens = tokensOf(output);
  return {
    id: `resp_${hex()}`,
    created_at: 0,
    model: options.model,
    object: "response",
    output,
    parallel_tool_calls: params.parallel_tool_calls ?? true,
    tool_choice: params.tool_choice ?? "auto",
    tools: params.tools ?? [],
    status: "completed",
    usage: {
      input_tokens: inputTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: inputTokens + outputTokens,
    },
  };
}

function wantsTool(params: ResponseCreateParams, options: SampleOptions, random: RandomSource): boolean {
  if (params.tool_choice === "none") return false;
  const input = Array.isArray(params.input) ? params.input : [];
  const turns = input.filter((item) => item.type === "function_call").length;
  if (turns >= options.max_tool_turns) return false;
  return params.tool_choice === "required" || random() < options.tool_call_rate;
}

function sampleCall(
  tools: readonly FunctionTool[],
  options: SampleOptions,
  random: RandomSource,
): { name: string; arguments: string } {
  const tool = tools[Math.floor(random() * tools.length)];
  const name = tool?.name ?? "";
  const input = sampleSchema(tool?.parameters ?? { type: "object" }, random);
  if (random() >= options.invalid_call_rate) return { name, arguments: JSON.stringify(input) };
  switch (Math.floor(random() * 3)) {
    case 0:
      return { name: `${name}_that_does_not_exist`, arguments: JSON.stringify(input) };
    case 1:
      return { name, arguments: `${JSON.stringify(input).slice(0, -1)},` };
    default:
      return { name, arguments: JSON.stringify({ unexpected: null }) };
  }
}

function sampleAnswer(params: ResponseCreateParams, random: RandomSource): string {
  const format = params.text?.format;
  if (format?.type === "json_schema") return JSON.stringify(sampleSchema(format.schema, random));
  if (format?.type === "json_object")
    return JSON.stringify({ answer: ANSWERS[Math.floor(random() * ANSWERS.length)] });
  const letter = "ABCD"[Math.floor(random() * 4)] ?? "A";
  const kind = random();
  if (kind < 0.4) return `\\boxed{${letter}}`;
  if (kind < 0.6) return `Answer: ${letter}`;
  return ANSWERS[Math.floor(random() * ANSWERS.length)] ?? "yes";
}

const DIGITS = Buffer.from("0123456789abcdef", "latin1");
const drawn = Buffer.alloc(32);

function randomHex(random: RandomSource): string {
  for (let index = 0; index < drawn.length; index++)
    drawn[index] = DIGITS[Math.floor(random() * 16)] as number;
  return drawn.toString("latin1");
}

function tokensOf(value: unknown): number {
  return Math.max(1, Math.ceil(JSON.stringify(value).length / CHARACTERS_PER_TOKEN));
}
