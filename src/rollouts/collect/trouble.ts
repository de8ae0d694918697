import { tellsOfLoss } from "../../wire/convert/loss-log.ts";
import type { TroubleSnapshot } from "./progress-snapshot.ts";

const MAX_MESSAGE = 1_000;

/** The warnings of servers since the last completed rollout. They explain why a run makes no progress. */
export class Trouble {
  #since = 0;
  #warnings = 0;
  #server = "";
  #message = "";

  warned(server: string, message: string, now = performance.now()): void {
    if (tellsOfLoss(message)) return;
    if (this.#warnings === 0) this.#since = now;
    this.#warnings++;
    this.#server = server;
    this.#message = message.slice(0, MAX_MESSAGE);
  }

  over(): void {
    this.#warnings = 0;
  }

  snapshot(now = performance.now()): TroubleSnapshot | null {
    if (this.#warnings === 0) return null;
    return {
      server: this.#server,
      message: this.#message,
      seconds: (now - this.#since) / 1000,
      warnings: this.#warnings,
    };
  }
}
