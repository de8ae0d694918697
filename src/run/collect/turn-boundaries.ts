import type { Row } from "../../records/files/door.ts";
import type { TurnBoundaries } from "../../records/light-door.ts";
import type { ResponseOutputItem } from "../../wire/schemas/door.ts";
import { callsOf, classifyCalls } from "../../wire/tokens/light-door.ts";

/** Counts the turn boundaries of a row; undefined without token ids. */
function turnBoundariesOf(row: Row): TurnBoundaries | undefined {
  const captured = (row["_ng_token_capture"] as { turn_boundaries?: TurnBoundaries } | undefined)
    ?.turn_boundaries;
  if (captured) return captured;
  const output = (row["response"] as { output?: unknown } | null | undefined)?.output;
  if (!Array.isArray(output)) return undefined;
  const items = output as ResponseOutputItem[];
  if (!items.some((item) => Array.isArray(item?.prompt_token_ids))) return undefined;
  return classifyCalls(callsOf(items)).counts;
}

/** Adds the boundaries of a row to those of a run. */
export class TurnBoundaryCounter {
  #counts: TurnBoundaries | undefined;

  add(row: Row): void {
    const own = turnBoundariesOf(row);
    if (!own) return;
    this.#counts ??= { extend: 0, fork: 0, lost: 0 };
    this.#counts.extend += own.extend;
    this.#counts.fork += own.fork;
    this.#counts.lost += own.lost;
  }

  /** Null when no row had token ids. */
  get counts(): TurnBoundaries | null {
    return this.#counts ? { ...this.#counts } : null;
  }
}

/** The counts as a sentence; undefined when there is nothing to report. */
export function turnBoundaryText(counts: TurnBoundaries | null): string | undefined {
  if (!counts) return undefined;
  const { extend, fork, lost } = counts;
  const total = extend + fork + lost;
  if (total === 0) return undefined;
  const share = ((100 * (fork + lost)) / total).toFixed(1);
  const warning =
    fork + lost === 0
      ? "every turn continues the tokens before it"
      : `${share} % of them break the token sequence a trainer sees`;
  return `Turn boundaries: ${extend} extend, ${fork} fork, ${lost} lost; ${warning}.`;
}
