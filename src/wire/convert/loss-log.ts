import type { Logger } from "../../logger.ts";
import type { Loss } from "./conversion-loss.ts";

const MAX_KNOWN = 1_000;
const OPENING = "a conversion leaves out ";

/** Whether a line of a server's log reports a loss: worth knowing, but no reason to stop a run. */
export function tellsOfLoss(line: string): boolean {
  return line.replace(/^warning: /, "").startsWith(OPENING);
}

/** Logs each kind of loss once, not once per call. */
export class LossLog {
  readonly #log: Logger;
  readonly #known = new Set<string>();

  constructor(log: Logger) {
    this.#log = log;
  }

  report({ field, reason }: Loss): void {
    // Positions differ from call to call; what is lost does not.
    const kind = `${field.replace(/\.\d+/g, "")}: ${reason}`;
    if (this.#known.has(kind) || this.#known.size >= MAX_KNOWN) return;
    this.#known.add(kind);
    this.#log.warn(`${OPENING}${kind}`);
  }
}
