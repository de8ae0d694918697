/** The most ranges kept; beyond them positions are only counted. */
const MAX_RANGES = 10_000;

/** A growing set of positions, kept as ranges so that a million bad rows in a row are one entry. */
export class PositionRanges {
  count = 0;
  private readonly ranges: [first: number, last: number][] = [];

  /** Adds `length` positions from `start` on; positions must come in order. */
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

  /** `1-5, 8`; at most `limit` ranges. */
  text(limit = 20): string {
    const shown = this.ranges
      .slice(0, limit)
      .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
    return shown.join(", ") + (this.ranges.length > limit ? ", …" : "");
  }
}
