import { parseJson } from "../../base/door.ts";
import { GymError } from "../../base/errors.ts";
import { dumps, isObject } from "../../base/python/json/door.ts";

/** One server-sent event. `event` is null if the frame has no event line. */
export interface SseEvent {
  event: string | null;
  /** The decoded JSON, or the text if it is not JSON (`[DONE]`). */
  data: unknown;
}

/** The data of the last event of a chat stream. */
export const DONE = "[DONE]";

/** Encodes one event. The JSON has the format of Python, on one line. */
export function encodeSse({ event, data }: SseEvent): string {
  const text = data === DONE ? DONE : dumps(data);
  return event === null ? `data: ${text}\n\n` : `event: ${event}\ndata: ${text}\n\n`;
}

/** Maximum length of a line and of an event. */
const MAX_EVENT_CHARACTERS = 64 * 1024 * 1024;

/** An event of a stream exceeds the limit. */
export class SseError extends GymError {
  constructor(message: string) {
    super("SSE_LIMIT", message);
  }
}

/** One event with its data as text. */
export interface RawSseEvent {
  event: string | null;
  data: string;
}

/** Limits of a decoder. */
export interface SseDecoderOptions {
  maxEventCharacters?: number;
}

/**
 * Decodes server-sent events from chunks of any size, with CRLF, LF or CR line ends. Pass chunks to `push`. Call `end`
 * once at the end of the stream, to get an event without a final blank line.
 */
export class SseDecoder {
  readonly #decoder = new TextDecoder("utf-8");
  readonly #limit: number;
  #rest = "";
  #event: string | null = null;
  #data: string[] = [];
  #size = 0;
  #skipLineFeed = false;

  constructor(options: SseDecoderOptions = {}) {
    this.#limit = options.maxEventCharacters ?? MAX_EVENT_CHARACTERS;
  }

  push(chunk: Uint8Array | string): RawSseEvent[] {
    return this.#read(typeof chunk === "string" ? chunk : this.#decoder.decode(chunk, { stream: true }));
  }

  end(): RawSseEvent[] {
    const events = this.#read(this.#decoder.decode());
    if (this.#rest !== "") {
      this.#addLine(this.#rest);
      this.#rest = "";
    }
    const last = this.#take();
    return last === undefined ? events : [...events, last];
  }

  #read(text: string): RawSseEvent[] {
    const events: RawSseEvent[] = [];
    let start = 0;
    let buffer = this.#rest === "" ? text : this.#rest + text;
    if (this.#skipLineFeed && buffer !== "") {
      if (buffer.startsWith("\n")) buffer = buffer.slice(1);
      this.#skipLineFeed = false;
    }
    const lineEnd = /\r\n|\r|\n/g;
    // The rest of the previous chunk has no line ends, so only the new text is searched.
    lineEnd.lastIndex = Math.min(this.#rest.length, buffer.length);
    for (let match = lineEnd.exec(buffer); match !== null; match = lineEnd.exec(buffer)) {
      const line = buffer.slice(start, match.index);
      start = match.index + match[0].length;
      if (match[0] === "\r" && start === buffer.length) this.#skipLineFeed = true;
      if (line !== "") this.#addLine(line);
      else {
        const event = this.#take();
        if (event !== undefined) events.push(event);
      }
    }
    this.#rest = buffer.slice(start);
    if (this.#rest.length + this.#size > this.#limit) this.#tooLong();
    return events;
  }

  #addLine(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") this.#event = value;
    else if (field === "data") {
      this.#data.push(value);
      this.#size += value.length;
      if (this.#size > this.#limit) this.#tooLong();
    }
  }

  #take(): RawSseEvent | undefined {
    const event = this.#data.length === 0 ? undefined : { event: this.#event, data: this.#data.join("\n") };
    this.#event = null;
    this.#data = [];
    this.#size = 0;
    return event;
  }

  #tooLong(): never {
    throw new SseError(`an event of the stream is longer than ${this.#limit} characters`);
  }
}

/** Decodes a whole stream in memory. Data that is not JSON is returned as text. */
export function decodeSse(text: string | Uint8Array, options: SseDecoderOptions = {}): SseEvent[] {
  const decoder = new SseDecoder(options);
  return [...decoder.push(text), ...decoder.end()].map(({ event, data }) => ({
    event,
    data: parseData(data),
  }));
}

/** Parses the data of an event as JSON. Returns the text if it is not JSON. */
export function parseData(data: string): unknown {
  const value = parseJson(data);
  return value === undefined ? data : value;
}

/** The three APIs of a model server. */
export type Dialect = "responses" | "chat" | "messages";

/** How a stream ended. */
export type StreamOutcome = "complete" | "incomplete" | "error";

const TERMINAL_TYPES: Record<Dialect, Record<string, StreamOutcome>> = {
  responses: {
    "response.completed": "complete",
    "response.incomplete": "incomplete",
    "response.failed": "error",
    error: "error",
  },
  chat: { error: "error" },
  messages: { message_stop: "complete", error: "error" },
};

/** The outcome of a stream that ends with this event; undefined if the stream continues. */
export function terminalOutcome(dialect: Dialect, { event, data }: SseEvent): StreamOutcome | undefined {
  if (dialect === "chat") {
    if (data === DONE) return "complete";
    if (isObject(data) && data["error"] != null) return "error";
  }
  const type = event ?? (isObject(data) ? data["type"] : undefined);
  if (typeof type !== "string" || !Object.hasOwn(TERMINAL_TYPES[dialect], type)) return undefined;
  return TERMINAL_TYPES[dialect][type];
}

/** The outcome of a whole stream; undefined if it has no final event. */
export function streamOutcome(dialect: Dialect, events: readonly SseEvent[]): StreamOutcome | undefined {
  for (const event of events) {
    const outcome = terminalOutcome(dialect, event);
    if (outcome !== undefined) return outcome;
  }
  return undefined;
}
