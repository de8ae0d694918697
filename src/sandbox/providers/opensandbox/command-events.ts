import { OutputBuffer } from "../../processes/output-buffer.ts";

/** One event of a command, as the service in the sandbox streams it: a JSON object a line, with or without `data:`. */
interface CommandEvent {
  type?: string;
  text?: string;
  error?: { ename?: string; evalue?: string };
}

/** Puts the events of one command together. */
export class CommandEvents {
  readonly #stdout: OutputBuffer;
  readonly #stderr: OutputBuffer;
  /** The service's name for the command. */
  commandId: string | undefined;
  error: string | undefined;
  isComplete = false;

  constructor(limit: number) {
    this.#stdout = new OutputBuffer(limit);
    this.#stderr = new OutputBuffer(limit);
  }

  readonly add = (line: string): void => {
    const text = line.replace(/^data:\s*/, "").trim();
    if (!text.startsWith("{")) return;
    const event = JSON.parse(text) as CommandEvent;
    if (event.type === "init") this.commandId = event.text;
    if (event.type === "stdout") this.#stdout.add(Buffer.from(event.text ?? ""));
    if (event.type === "stderr") this.#stderr.add(Buffer.from(event.text ?? ""));
    if (event.type === "execution_complete") this.isComplete = true;
    if (event.type === "error") this.error = event.error?.evalue ?? event.error?.ename ?? "";
  };

  output(): { stdout: string; stderr: string; truncated: boolean } {
    const truncated = this.#stdout.truncated || this.#stderr.truncated;
    return { stdout: this.#stdout.text(), stderr: this.#stderr.text(), truncated };
  }

  /** From an error such as `exit status 3`, or from the end of a command that had none. */
  get code(): number | undefined {
    if (this.error === undefined) return this.isComplete ? 0 : undefined;
    const digits = /(\d+)\s*$/.exec(this.error)?.[1];
    return digits === undefined ? undefined : Number(digits);
  }
}
