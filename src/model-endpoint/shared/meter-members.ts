import type { CostMeter } from "../cost.ts";
import type { CoordinatorMessage } from "./messages.ts";

/** Costs of this time are told together. */
const TELL_EVERY_MS = 10;

interface Member {
  readonly send: (message: CoordinatorMessage) => void;
  reported: number;
}

/** Adds up what the processes of a run spend, and tells all of them. */
export class MeterMembers {
  readonly #key: string;
  readonly #meter: CostMeter;
  readonly #members = new Map<object, Member>();
  #timer: NodeJS.Timeout | undefined;

  constructor(key: string, meter: CostMeter) {
    this.#key = key;
    this.#meter = meter;
    meter.subscribe(() => this.#tellSoon());
  }

  join(id: object, send: Member["send"]): void {
    const member = { send, reported: 0 };
    this.#members.set(id, member);
    this.#tell(member);
  }

  leave(id: object): void {
    this.#members.delete(id);
  }

  spent(id: object, amount: number): void {
    const member = this.#members.get(id);
    if (member) member.reported += amount;
    this.#meter.add(amount);
  }

  #tellSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const member of this.#members.values()) this.#tell(member);
    }, TELL_EVERY_MS).unref();
  }

  #tell({ send, reported }: Member): void {
    send({ type: "total", key: this.#key, spent: this.#meter.spent, reported });
  }
}
