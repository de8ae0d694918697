import type { CostMeter } from "../cost.ts";
import type { MemberMessage } from "./messages.ts";

/** Costs of this time are reported together. */
const REPORT_EVERY_MS = 10;

/** Keeps a meter of this process in step with those of the others. */
export class SharedMeter {
  readonly #key: string;
  readonly #meter: CostMeter;
  readonly #send: (message: MemberMessage) => void;
  #own = 0;
  #unreported = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(key: string, meter: CostMeter, send: (message: MemberMessage) => void) {
    this.#key = key;
    this.#meter = meter;
    this.#send = send;
    meter.subscribe((cost) => this.#spent(cost));
    send({ type: "join-meter", key });
  }

  /** What the coordinator says; what it cannot know yet is added. */
  update(spent: number, reported: number): void {
    this.#meter.correct(spent - reported + this.#own);
  }

  #spent(cost: number): void {
    this.#own += cost;
    this.#unreported += cost;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#send({ type: "spent", key: this.#key, amount: this.#unreported });
      this.#unreported = 0;
    }, REPORT_EVERY_MS).unref();
  }
}
