import {
  outputText,
  type ResponseCreateParams,
  type ResponseInputItem,
  type ResponseOutputItem,
} from "nemo-gym/openai";
import { dumps, isObject, strip } from "nemo-gym/python";

/** What the model reads after a quarter, a half and seven eighths of its turns. */
export const NOTES = [
  "[Note: a quarter of your turns is used. Check whether your plan still leads to the answer.]",
  "[Note: half of your turns is used. Concentrate on the most likely candidates.]",
  "[Note: few turns remain. Decide, and write your final answer soon.]",
] as const;
export const RESET_SOON =
  "[Note: your context is nearly full. Call update_progress now with everything that you need: earlier results will be gone after this turn.]";

const ANSWER = /^(?:exact answer|final answer|answer):.*$/im;
const MARK = "[Recovered from progress board] ";

type Tools = NonNullable<ResponseCreateParams["tools"]>;

/** A board on which the model writes what it must not forget. */
export class Progress {
  static readonly TOOL = "update_progress";
  #board = "";

  /** The tools with that of the board, before `bash_command`. */
  withTool(tools: Tools): Tools {
    const own = {
      type: "function",
      name: Progress.TOOL,
      description:
        "Replaces the board with your progress: findings with sources, candidates, what to do next. It survives when old results are removed.",
      parameters: {
        type: "object",
        properties: { board: { type: "string" } },
        required: ["board"],
        additionalProperties: false,
      },
      strict: true,
    } as Tools[number];
    const at = tools.findIndex((tool) => tool.type === "function" && tool.name === "bash_command");
    return at < 0 ? [...tools, own] : [...tools.slice(0, at), own, ...tools.slice(at)];
  }

  update(given: unknown): string {
    const board = isObject(given) ? given["board"] : undefined;
    if (typeof board !== "string") return dumps({ error: "update_progress needs the text 'board'." });
    this.#board = board;
    return "The board is updated.";
  }

  /** The input with the board in its first system message. */
  show(input: readonly ResponseInputItem[]): ResponseInputItem[] {
    const section = `## Progress board\n\n${this.#board || "(empty)"}`;
    const at = input.findIndex((item) => "role" in item && item.role === "system");
    if (at < 0) return [{ role: "system", content: section, type: "message" }, ...input];
    return input.map((item, index) => (index === at ? withSection(item, section) : item));
  }

  /** Adds the answer on the board to an output without one. */
  recover(output: ResponseOutputItem[]): void {
    const line = ANSWER.exec(this.#board)?.[0];
    const last = output.findLast(
      (item) => item.type === "message" && (item.role ?? "assistant") === "assistant",
    );
    const text = last ? outputText({ output: [last] }) : "";
    if (line === undefined || ANSWER.test(text)) return;
    const recovered = MARK + strip(line);
    const whole = text === "" ? recovered : `${text}\n\n${recovered}`;
    const message = {
      ...{ id: "msg_recovered", type: "message", role: "assistant", status: "completed" },
      content: [{ type: "output_text", text: whole, annotations: [] }],
    } as unknown as ResponseOutputItem;
    if (last && text !== "") output[output.indexOf(last)] = message;
    else output.push(message);
  }
}

function withSection(item: ResponseInputItem, section: string): ResponseInputItem {
  if (!("content" in item)) return item;
  const { content } = item;
  const added = Array.isArray(content)
    ? [...content, { type: "input_text", text: `\n\n${section}` }]
    : `${String(content)}\n\n${section}`;
  return { ...item, content: added } as ResponseInputItem;
}
