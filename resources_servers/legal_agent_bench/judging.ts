import { type JsonObject, type Judge, JudgeError, sleep } from "nemo-gym";
import { isObject, strip } from "nemo-gym/python";
import { findVerdict, readVerdict, type Verdict } from "./read-verdict.ts";

const RESPONSE_FORMAT = {
  type: "json_schema",
  json_schema: {
    name: "verdict",
    strict: true,
    schema: {
      type: "object",
      properties: { verdict: { type: "string", enum: ["pass", "fail"] }, reasoning: { type: "string" } },
      required: ["verdict", "reasoning"],
      additionalProperties: false,
    },
  },
};
const MAX_DELAY_SECONDS = 8;

export interface JudgeSettings {
  judge_structured_output: boolean;
  judge_max_retries: number;
  judge_retry_delay_factor: number;
  judge_parse_repair_attempts: number;
  judge_max_tokens: number;
  judge_repair_max_tokens: number;
  judge_temperature?: number | null | undefined;
}

/** The verdict about a criterion, or why there is none: no reply, or none that can be read. */
export type Judgement = Verdict | { failure: JudgeError } | { unreadable: string };

/** Asks with a schema first, then without one, for judges that know no schemas. */
export async function judgeCriterion(
  judge: Judge,
  prompt: string,
  repairPrompt: (reply: string) => string,
  settings: JudgeSettings,
  signal: AbortSignal,
): Promise<Judgement> {
  let last: Judgement = { failure: new JudgeError("judge_max_retries is 0: the judge was not asked.") };
  for (const structured of settings.judge_structured_output ? [true, false] : [false]) {
    for (let call = 0; call < settings.judge_max_retries; call++) {
      if (call > 0) await wait(call, settings.judge_retry_delay_factor, signal);
      last = await ask(structured);
      if ("passes" in last) return last;
    }
  }
  return last;

  async function ask(structured: boolean): Promise<Judgement> {
    try {
      const reply = await textOf(prompt, settings.judge_max_tokens, structured);
      return (await readOrRepair(reply)) ?? { unreadable: reply.slice(0, 500) };
    } catch (error) {
      if (error instanceof JudgeError) return { failure: error };
      throw error;
    }
  }

  /** A reply that is no JSON goes back to the judge; the last reply with a verdict in plain words counts at the end. */
  async function readOrRepair(reply: string): Promise<Verdict | undefined> {
    const replies = [reply];
    for (let repairs = 0; ; repairs++) {
      const verdict = readVerdict(replies.at(-1) as string);
      if (verdict) return verdict;
      if (repairs >= settings.judge_parse_repair_attempts) break;
      replies.push(await textOf(repairPrompt(reply), settings.judge_repair_max_tokens, false));
    }
    return findVerdict(replies.at(-1) as string) ?? findVerdict(reply);
  }

  async function textOf(content: string, maxTokens: number, structured: boolean): Promise<string> {
    const params: JsonObject = {
      max_tokens: maxTokens,
      ...(settings.judge_temperature != null && { temperature: settings.judge_temperature }),
      ...(structured && { response_format: RESPONSE_FORMAT }),
    };
    const { response } = await judge.ask(content, {
      signal,
      params,
      // Counts the replies without a verdict.
      parse: (_, reply) =>
        readVerdict(replyText(reply.response)) ?? findVerdict(replyText(reply.response)) ?? null,
    });
    return replyText(response);
  }
}

/** The text of a chat completion; models with reasoning may put all of it there. */
function replyText(response: JsonObject): string {
  const [choice] = Array.isArray(response["choices"]) ? response["choices"] : [];
  if (!isObject(choice) || !isObject(choice["message"]))
    throw new JudgeError("The judge's reply has no message.");
  if (choice["finish_reason"] === "length")
    throw new JudgeError("The judge's reply was cut off: raise judge_max_tokens.");
  const { content, reasoning_content, reasoning } = choice["message"];
  const text = [content, reasoning_content, reasoning].map(flat).find((found) => found !== "");
  if (text === undefined) throw new JudgeError("The judge's reply is empty.");
  return text;
}

function flat(value: unknown): string {
  if (typeof value === "string") return strip(value);
  if (Array.isArray(value)) return value.map(flat).join("");
  return isObject(value) ? flat(value["text"] ?? value["content"]) : "";
}

async function wait(call: number, factor: number, signal: AbortSignal): Promise<void> {
  await sleep(Math.min(2 ** (call - 1), MAX_DELAY_SECONDS) * 1000 * factor, signal);
}
