import { isObject } from "../../../base/python/json/door.ts";
import type { TokenInformation } from "../../../wire/schemas/door.ts";
import { RolloutError } from "../../errors.ts";
import type { Row } from "../../files/jsonl-rows.ts";

/** Content of a rollout that a trajectory cannot represent; `place` is its position. */
export class AtifProblem extends RolloutError {
  constructor(place: string, reason: string) {
    super("ROLLOUT_EXPORT", `${place}: ${reason}`);
  }
}

/** A message before the agent's first turn. */
export interface Spoken {
  source: "system" | "user";
  message: string;
}

/** The output of a model in one turn, and the results of its tool calls. */
export interface AgentItems {
  message: string;
  messageId: string | null;
  reasoning: string | null;
  reasoningIds: string[] | null;
  calls: {
    call_id: string;
    name: string;
    arguments: Row;
    item_id: string | null;
    output: string;
    output_id: string | null;
  }[];
  tokens: TokenInformation | undefined;
}

type OpenTurn = Omit<AgentItems, "calls"> & {
  calls: (Omit<AgentItems["calls"][number], "output"> & { output: string | undefined })[];
  closed: boolean;
};

const TOKEN_FIELDS = ["prompt_token_ids", "generation_token_ids", "generation_log_probs"];
const KNOWN_FIELDS: Record<string, string[]> = {
  message: ["id", "type", "role", "content", "status", ...TOKEN_FIELDS],
  reasoning: ["id", "type", "summary", "content", "encrypted_content", "status", ...TOKEN_FIELDS],
  function_call: ["id", "type", "call_id", "name", "arguments", "status", ...TOKEN_FIELDS],
  function_call_output: ["id", "type", "call_id", "output", "status"],
};

/** Reads the items of an invocation: first the question, then each turn. */
export function readConversation(given: unknown): { before: Spoken[]; turns: AgentItems[] } {
  const items = Array.isArray(given) ? given : [];
  if (items.length === 0) throw new AtifProblem("conversation", "is empty");
  const before: Spoken[] = [];
  const turns: OpenTurn[] = [];
  for (const [index, value] of items.entries()) {
    const place = `conversation[${index}]`;
    const item = checkedItem(value, place);
    const { type, role } = item;
    if (type === "message" && role !== "assistant") {
      if (turns.length > 0)
        throw new AtifProblem(place, `a ${String(role)} message after the agent's first turn`);
      if (role !== "user" && role !== "system") throw new AtifProblem(place, `role '${String(role)}'`);
      before.push({ source: role, message: textOf(item["content"], `${place}.content`) });
    } else if (type === "function_call_output") answerCall(turns, item, place);
    else addToTurn(openTurn(turns), item, place);
  }
  const unanswered = turns.flatMap(({ calls }) => calls).find(({ output }) => output === undefined);
  if (unanswered) throw new AtifProblem(`tool call ${unanswered.call_id}`, "has no result");
  return { before, turns: turns as AgentItems[] };
}

function checkedItem(value: unknown, place: string): Row {
  if (!isObject(value)) throw new AtifProblem(place, "is not an object");
  const type = String(value["type"] ?? "message");
  const known = KNOWN_FIELDS[type];
  if (!known) throw new AtifProblem(`${place}.type`, `'${type}' is not allowed in a trajectory`);
  const unknown = Object.keys(value).find((key) => !known.includes(key) && value[key] !== null);
  if (unknown) throw new AtifProblem(`${place}.${unknown}`, "is not known");
  return { ...value, type };
}

/** The current turn. Tool results end a turn, and so do tokens, which are on the last item of a call. */
function openTurn(turns: OpenTurn[]): OpenTurn {
  const last = turns.at(-1);
  if (last && !last.closed) return last;
  const turn: OpenTurn = {
    message: "",
    messageId: null,
    reasoning: null,
    reasoningIds: null,
    calls: [],
    tokens: undefined,
    closed: false,
  };
  turns.push(turn);
  return turn;
}

function addToTurn(turn: OpenTurn, item: Row, place: string): void {
  const id = typeof item["id"] === "string" ? item["id"] : null;
  if (item["type"] === "reasoning") {
    if (turn.reasoning !== null) throw new AtifProblem(place, "a second reasoning item in one turn");
    turn.reasoning = reasoningOf(item, place);
    turn.reasoningIds = id === null ? null : [id];
  } else if (item["type"] === "message") {
    if (turn.message !== "") throw new AtifProblem(place, "a second message in one turn");
    turn.message = textOf(item["content"], `${place}.content`);
    turn.messageId = id;
  } else {
    turn.calls.push({
      call_id: String(item["call_id"]),
      name: String(item["name"]),
      arguments: argumentsOf(item["arguments"], `${place}.arguments`),
      item_id: id,
      output: undefined,
      output_id: null,
    });
  }
  if (!Array.isArray(item["generation_token_ids"])) return;
  turn.tokens = item as unknown as TokenInformation;
  turn.closed = true;
}

function answerCall(turns: readonly OpenTurn[], item: Row, place: string): void {
  const turn = turns.at(-1);
  const call = turn?.calls.find(({ call_id, output }) => call_id === item["call_id"] && output === undefined);
  if (!turn || !call) throw new AtifProblem(place, "the result of a call that the turn did not make");
  if (typeof item["output"] !== "string") throw new AtifProblem(`${place}.output`, "is not a text");
  call.output = item["output"];
  call.output_id = typeof item["id"] === "string" ? item["id"] : null;
  turn.closed = true;
}

function textOf(content: unknown, place: string): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) throw new AtifProblem(place, "is neither a text nor a list of parts");
  return content
    .map((part: unknown, index) => {
      const at = `${place}[${index}]`;
      if (!isObject(part) || typeof part["text"] !== "string") throw new AtifProblem(at, "is not a text");
      for (const name of ["annotations", "logprobs"]) {
        const value = part[name];
        if (Array.isArray(value) && value.length > 0)
          throw new AtifProblem(`${at}.${name}`, "has no place in a trajectory");
      }
      return part["text"];
    })
    .join("");
}

function reasoningOf(item: Row, place: string): string {
  if (item["encrypted_content"]) throw new AtifProblem(`${place}.encrypted_content`, "cannot be read");
  const parts = ["summary", "content"].flatMap((name) => {
    const value = item[name];
    return Array.isArray(value) ? value : [];
  });
  if (parts.length > 1) throw new AtifProblem(place, "reasoning in several parts");
  return textOf(parts, place);
}

function argumentsOf(given: unknown, place: string): Row {
  try {
    const value: unknown = typeof given === "string" ? JSON.parse(given) : given;
    if (isObject(value)) return value;
  } catch {
    // Reported below, like every other text that is not an object.
  }
  throw new AtifProblem(place, "is not a JSON object");
}
