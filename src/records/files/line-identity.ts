import { createHash } from "node:crypto";
import { RolloutKeyMap } from "../metrics/rollout-key-map.ts";
import type { JsonlLine } from "./jsonl-rows.ts";

type Text = Pick<JsonlLine, "text" | "terminated">;

/**
 * Numbers distinct lines in order of first appearance. Lines are identified by 96 bits of their SHA-256, so a million
 * long lines need about forty megabytes instead of their text.
 */
export class LineNumbering {
  readonly #numbers = new RolloutKeyMap();
  #last: Text = { text: "", terminated: false };
  #lastNumber: number | undefined;

  /**
   * The number of this line's text: a new one, or that of the first equal line. A line without newline is a different
   * text.
   */
  numberOf(line: Text): number {
    const { text, terminated } = line;
    // Collated files repeat a row on consecutive lines.
    const isSame = text === this.#last.text && terminated === this.#last.terminated;
    if (this.#lastNumber !== undefined && isSame) return this.#lastNumber;
    const digest = createHash("sha256")
      .update(terminated ? `${text}\n` : text)
      .digest();
    const [first, second] = [digest.readUIntLE(0, 6), digest.readUIntLE(6, 6)];
    const number = this.#numbers.get(first, second) ?? this.#numbers.size;
    this.#numbers.set(first, second, number);
    this.#last = { text, terminated };
    this.#lastNumber = number;
    return number;
  }
}
