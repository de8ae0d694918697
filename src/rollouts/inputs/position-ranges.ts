const MAX_RANGES = 200;

/** Ascending positions as text: `0-4, 7, 9-12`. */
export function rangesOf(positions: readonly number[]): string {
  const ranges: [first: number, last: number][] = [];
  for (const position of positions) {
    const current = ranges.at(-1);
    if (current && current[1] === position - 1) current[1] = position;
    else ranges.push([position, position]);
  }
  const shown = ranges
    .slice(0, MAX_RANGES)
    .map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`));
  return ranges.length > MAX_RANGES
    ? `${shown.join(", ")}, … (${positions.length} in all)`
    : shown.join(", ");
}
