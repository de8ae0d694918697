/** Deeper values are refused: writing them as JSON would overflow the stack. */
export const MAX_NESTING = 1_000;

/** Whether a JSON value has more levels than can safely be written; looks level by level, without recursion. */
export function isTooDeep(value: unknown): boolean {
  let level = containersIn([value]);
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= MAX_NESTING) return true;
    level = level.flatMap((container) => containersIn(Object.values(container)));
  }
  return false;
}

function containersIn(values: readonly unknown[]): object[] {
  return values.filter((value): value is object => typeof value === "object" && value !== null);
}
