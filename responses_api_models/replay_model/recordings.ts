import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { access, constants } from "node:fs/promises";
import { createInterface } from "node:readline";
import { GymError, type JsonObject } from "nemo-gym";
import type { ResponseInputItem, ResponseOutputItem } from "nemo-gym/openai";
import { splitConversation } from "./conversation.ts";

/** One recorded rollout: the output of the model, turn by turn. */
export interface Recording {
  turns: ResponseOutputItem[][];
  /** Model turns that are part of the input: a row may start in the middle of a conversation. */
  turnsAsked: number;
  response: JsonObject;
}

/** Recorded rollouts, found by task and repeat or by input. */
export class Recordings {
  readonly #byId = new Map<string, Recording>();
  readonly #byInput = new Map<string, Recording[]>();
  readonly file: string;
  readonly #onSurplus: (text: string) => void;
  #warned = false;

  constructor(file: string, onSurplus: (text: string) => void = () => {}) {
    this.file = file;
    this.#onSurplus = onSurplus;
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Reads a rollouts file; a line without a rollout is an error that names the line. */
  static async read(
    file: string,
    { key, onSurplus }: { key: string; onSurplus: (text: string) => void },
  ): Promise<Recordings> {
    const recordings = new Recordings(file, onSurplus);
    await access(file, constants.R_OK).catch((error: Error) => {
      throw new GymError("REPLAY_FILE", `${key} cannot be read: ${error.message}`);
    });
    let number = 0;
    for await (const line of createInterface({
      input: createReadStream(file),
      crlfDelay: Number.POSITIVE_INFINITY,
    })) {
      number++;
      if (line.trim() === "") continue;
      recordings.add(line, number);
    }
    return recordings;
  }

  /** The recording for a rollout: its own if task and repeat are known, else the next one with the same input. */
  find(rolloutId: string | undefined, question: unknown): Recording | undefined {
    const own = rolloutId === undefined ? undefined : this.#byId.get(rolloutId.replace(/-a\d+$/, ""));
    const asked = this.#byInput.get(questionKey(question)) ?? [];
    // A recording with the same number but another input does not match.
    if (own && asked.includes(own)) return own;
    const repeat = Number(/-(\d+)(?:-a\d+)?$/.exec(rolloutId ?? "")?.[1] ?? 0);
    if (asked.length > 0 && repeat >= asked.length && !this.#warned) {
      this.#warned = true;
      this.#onSurplus(
        `${this.file} holds ${asked.length} rollouts of a task that repeat ${repeat + 1} is asked of: they are played again, so repeats are not independent`,
      );
    }
    return asked[repeat % Math.max(1, asked.length)];
  }

  /** Adds one line of a rollouts file. */
  add(line: string, number: number): void {
    let row: JsonObject;
    try {
      row = JSON.parse(line) as JsonObject;
    } catch (error) {
      throw new GymError("REPLAY_FILE", `${this.file}:${number} is not JSON: ${(error as Error).message}`);
    }
    const response = row["response"] as JsonObject | undefined;
    const params = row["responses_create_params"] as JsonObject | undefined;
    if (!Array.isArray(response?.["output"]) || !params) {
      throw new GymError(
        "REPLAY_FILE",
        `${this.file}:${number} is not a rollout: it has no response.output.`,
      );
    }
    const input = params["input"];
    const { question, turns: turnsAsked } = splitConversation(
      Array.isArray(input) ? (input as ResponseInputItem[]) : [],
    );
    const turns = splitTurns(response["output"] as ResponseOutputItem[]);
    const recording = { turns, turnsAsked, response };
    const { _ng_task_index: task = number - 1, _ng_rollout_index: repeat = 0 } = row;
    this.#byId.set(`${task}-${repeat}`, recording);
    const key = questionKey(Array.isArray(input) ? question : input);
    this.#byInput.set(key, [...(this.#byInput.get(key) ?? []), recording]);
  }
}

/** Splits a trajectory into model turns; every item of the environment ends a turn. */
export function splitTurns(output: readonly ResponseOutputItem[]): ResponseOutputItem[][] {
  const turns: ResponseOutputItem[][] = [];
  let turn: ResponseOutputItem[] = [];
  for (const item of output) {
    const fromEnvironment =
      item.type === "function_call_output" ||
      (item.type === "message" && (item.role as string) !== "assistant");
    if (!fromEnvironment) {
      turn.push(item);
      continue;
    }
    if (turn.length > 0) turns.push(turn);
    turn = [];
  }
  if (turn.length > 0) turns.push(turn);
  return turns;
}

/** A key that is equal for equal inputs, independent of how defaults were filled in. */
function questionKey(input: unknown): string {
  const items =
    typeof input === "string" ? [{ role: "user", content: input }] : Array.isArray(input) ? input : [];
  const plain = (items as JsonObject[]).map(({ role, content }) => [role, textOf(content)]);
  return createHash("sha256").update(JSON.stringify(plain)).digest("base64");
}

function textOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content ?? null;
  return (content as JsonObject[]).map((part) => part["text"] ?? part["image_url"] ?? null).join("\n");
}
