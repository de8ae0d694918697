/** A reward as short as it can be: 1, 0.5, -0.333. */
export function rewardText(reward: number | null): string {
  if (reward === null) return "–";
  if (Number.isInteger(reward)) return String(reward);
  return Math.abs(reward) >= 1000 ? reward.toPrecision(5) : String(Number(reward.toFixed(3)));
}

export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

export function percentText(part: number, whole: number): string {
  if (whole === 0) return "–";
  const percent = (100 * part) / whole;
  // Neither is said of less or more than all of it.
  if (part > 0 && percent < 0.1) return "<0.1 %";
  return `${part < whole ? Math.min(99.9, Number(percent.toFixed(1))) : 100} %`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const unit = bytes < 1e6 ? ("kB" as const) : bytes < 1e9 ? ("MB" as const) : ("GB" as const);
  const size = bytes / { kB: 1e3, MB: 1e6, GB: 1e9 }[unit];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

export type Verdict = "pass" | "part" | "fail" | "none";

/** How a reward stands to the threshold from which a rollout passes. */
export function verdictOf(reward: number | null, threshold: number): Verdict {
  if (reward === null) return "none";
  if (reward >= threshold) return "pass";
  return reward > 0 ? "part" : "fail";
}
