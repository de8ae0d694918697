/** Maximum number of ranges. Positions outside them are only counted. */
const MAX_RANGES = 10_000;

/** A set of positions that is stored as ranges, so that a million consecutive bad rows take one entry. */
export class PositionRanges {
  count = 0;
  private readonly ranges: [first: number, last: number][] = [];

  /** Adds `length` positions from `start`. Positions must be added in order. */
  add(start: number, length: number): void {
    this.count += length;
    const last = this.ranges.at(-1);
    if (last !== undefined && last[1] + 1 === start) last[1] = start + length - 1;
    else if (this.ranges.length < MAX_RANGES) this.ranges.push([start, start + length - 1]);
  }

  *positions(): Generator<number> {
    for (const [first, last] of this.ranges)
      for (let position = first; position <= last; position++) yield position;
  }

  /** Text such as `1-5, 8`, with at most `limit` ranges. */
  text(limit = 20): string {
    const shown = this.ranges
      .slice(0, limit)
      .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
    return shown.join(", ") + (this.ranges.length > limit ? ", …" : "");
  }
}
