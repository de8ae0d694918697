import { StringDecoder } from "node:string_decoder";

export type StreamName = "stdout" | "stderr";

/**
 * Captures the output of a process that servers share, line by line. The program itself writes through a reference to
 * `write` that it saved before. Returns a function that restores the streams.
 *
 * @param writer The server whose code is running.
 */
export function captureOutput(
  writer: () => string,
  onLine: (server: string, line: string, stream: StreamName) => void,
): () => void {
  const ends = (["stdout", "stderr"] as const).map((name) => {
    const stream = process[name];
    const write = stream.write;
    const writers = new Map<string, { decoder: StringDecoder; lines: LineSplitter }>();
    const captured = (chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
      const server = writer();
      let output = writers.get(server);
      if (!output) {
        const lines = new LineSplitter((line) => onLine(server, line, name));
        output = { decoder: new StringDecoder("utf8"), lines };
        writers.set(server, output);
      }
      output.lines.add(typeof chunk === "string" ? chunk : output.decoder.write(Buffer.from(chunk)));
      const done = rest.find((word) => typeof word === "function") as (() => void) | undefined;
      if (done) process.nextTick(done);
      return true;
    };
    stream.write = captured as typeof stream.write;
    return () => {
      for (const { lines } of writers.values()) lines.end();
      if (stream.write === captured) stream.write = write;
    };
  });
  return () => {
    for (const end of ends) end();
  };
}

const MAX_LINE = 16 * 1024;

/** Splits chunks of text into lines. Truncates lines that are too long. */
export class LineSplitter {
  #rest = "";
  readonly #onLine: (line: string) => void;

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  add(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    if (this.#rest.length > MAX_LINE) {
      lines.push(this.#rest);
      this.#rest = "";
    }
    for (const line of lines) this.#onLine(line);
  }

  /** Emits the remaining text without a line end. */
  end(): void {
    if (this.#rest !== "") this.#onLine(this.#rest);
    this.#rest = "";
  }
}
