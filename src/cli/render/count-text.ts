/** A count with its noun: `1 rollout`, `2 rollouts`. */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
