import { byCodePoint } from "../../base/python/door.ts";
import { PyFloat, parsePyInt } from "../../base/python/numbers/door.ts";
import { RolloutError } from "../../records/errors.ts";
import { numberOf } from "../../records/metrics/door.ts";

/** A number for all rows, or a map from agents, tasksets or task sources to numbers with `_default` for the others; null means 1. */
export type RepeatsSetting = number | string | boolean | null | Readonly<Record<string, number | string>>;

const DEFAULT_KEY = "_default";

/** The number of repeats of each agent; records agents that the setting does not cover. */
export class Repeats {
  private readonly all: number | undefined;
  private readonly byAgent: ReadonlyMap<string, number>;
  private readonly seen = new Set<string>();
  private readonly unknown = new Set<string>();

  constructor(setting: RepeatsSetting = 1) {
    if (setting === null || typeof setting !== "object" || setting instanceof PyFloat) {
      this.all = positive(setting ?? 1, "num_repeats");
      this.byAgent = new Map();
    } else {
      this.byAgent = new Map(
        Object.entries(setting).map(([agent, repeats]) => [agent, positive(repeats, `num_repeats.${agent}`)]),
      );
      this.all = this.byAgent.get(DEFAULT_KEY);
    }
  }

  /** The largest number of repeats that an agent has. */
  get most(): number {
    return Math.max(this.all ?? 1, ...this.byAgent.values());
  }

  /** The repeats of a row by its first name that has an entry; 0 for a row without any, which `finish` reports. */
  of(...names: [string, ...string[]]): number {
    for (const name of names) this.seen.add(name);
    const found = names.find((name) => name !== DEFAULT_KEY && this.byAgent.has(name));
    const repeats = found === undefined ? this.all : this.byAgent.get(found);
    if (repeats === undefined) this.unknown.add(names[0]);
    return repeats ?? 0;
  }

  /** Call after the last row: an agent without repeats is an error, repeats without an agent cause a warning. */
  finish(warn: (message: string) => void = () => undefined): void {
    if (this.unknown.size > 0) {
      throw new RolloutError(
        "ROLLOUT_REPEATS_INVALID",
        `num_repeats has no entry for ${[...this.unknown].sort(byCodePoint).join(", ")} and no '${DEFAULT_KEY}'.`,
      );
    }
    const idle = [...this.byAgent.keys()].filter((agent) => agent !== DEFAULT_KEY && !this.seen.has(agent));
    if (idle.length > 0) warn(`num_repeats has names that no row has: ${idle.sort(byCodePoint).join(", ")}.`);
  }
}

function positive(value: unknown, key: string): number {
  // A config may give the number as text or as a float without a fraction.
  const number = typeof value === "string" ? Number(parsePyInt(value) ?? Number.NaN) : numberOf(value);
  if (number !== undefined && Number.isInteger(number) && number >= 1) return number;
  throw new RolloutError(
    "ROLLOUT_REPEATS_INVALID",
    `${key} must be a whole number of at least 1, not ${String(value)}.`,
  );
}
