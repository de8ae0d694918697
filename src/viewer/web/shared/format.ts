import type { ViewerStatus } from "../../api-types.ts";

/** A reward in few characters, to three digits: 1, 0.5, -0.333, 1e-7. */
export function rewardText(reward: number | null): string {
  if (reward === null) return "–";
  const size = Math.abs(reward);
  if (size !== 0 && (size >= 1e6 || size < 0.0001))
    return reward
      .toExponential(2)
      .replace(/\.?0+e/, "e")
      .replace("e+", "e");
  if (Number.isInteger(reward)) return String(reward);
  if (size < 1) return String(Number(reward.toPrecision(3)));
  return String(Number(size >= 1000 ? reward.toPrecision(5) : reward.toFixed(3)));
}

/** A reward with a fixed number of decimals; from a million on, with an exponent. */
export function fixedText(reward: number, decimals: number): string {
  return Math.abs(reward) >= 1e6 ? rewardText(reward) : reward.toFixed(decimals);
}

/** A mean in a column of means; one that two decimals cannot show is written like a reward. */
export function meanText(mean: number | null): string {
  if (mean === null || (mean !== 0 && Math.abs(mean) < 0.005)) return rewardText(mean);
  return fixedText(mean, 2);
}

export function countLabel(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

/** The numbers of rollouts, failed attempts and bad lines of a run. */
export function linesText({ rollouts, failures, unreadable }: ViewerStatus): string {
  const failed = failures.rows - failures.bad_lines;
  return [
    countLabel(rollouts.rows - rollouts.bad_lines, "rollout"),
    failed > 0 && countLabel(failed, "failed attempt"),
    unreadable > 0 && countLabel(unreadable, "bad line"),
  ]
    .filter(Boolean)
    .join(", ");
}

export function percentText(part: number, whole: number): string {
  if (whole === 0) return "–";
  const percent = (100 * part) / whole;
  // Never shows 0 % or 100 % for a part that is not empty or not complete.
  if (part > 0 && percent < 0.1) return "<0.1 %";
  return `${part < whole ? Math.min(99.9, Number(percent.toFixed(1))) : 100} %`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const unit = bytes < 1e6 ? ("kB" as const) : bytes < 1e9 ? ("MB" as const) : ("GB" as const);
  const size = bytes / { kB: 1e3, MB: 1e6, GB: 1e9 }[unit];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
}

/** 1.5k, 2.3M: for counts whose last digits are not relevant. */
export function shortCount(count: number | null): string {
  if (count === null) return "–";
  const size = Math.abs(count);
  if (size < 1000) return String(Number.isInteger(count) ? count : Number(count.toFixed(1)));
  const [divisor, unit] = size < 1e6 ? [1e3, "k"] : size < 1e9 ? [1e6, "M"] : [1e9, "G"];
  const short = count / (divisor as number);
  return `${Math.abs(short) < 10 ? short.toFixed(1) : Math.round(short)}${unit}`;
}

export function dollarText(cost: number | null): string {
  if (cost === null) return "–";
  if (cost === 0) return "$0";
  return cost < 0.01 ? `$${cost.toPrecision(2)}` : `$${cost.toFixed(2)}`;
}

export function secondsText(seconds: number | null): string {
  if (seconds === null) return "–";
  if (seconds === 0) return "0 s";
  if (seconds < 0.001) return "<1 ms";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.5) return `${seconds.toFixed(seconds < 9.95 ? 1 : 0)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return inTwo(whole, 60, "min", "s");
  return inTwo(Math.round(seconds / 60), 60, "h", "min");
}

/** The unit of a rate: per second, or per minute or hour if the rate is below 0.1. */
export function rateUnit(perSecond: number): { seconds: number; name: string; short: string } {
  if (perSecond >= 0.1 || perSecond === 0) return { seconds: 1, name: "second", short: "s" };
  if (perSecond >= 0.1 / 60) return { seconds: 60, name: "minute", short: "min" };
  return { seconds: 3600, name: "hour", short: "h" };
}

/** 12.5/s, or 12.5 rollouts/s if the counted unit is given. */
export function rateText(perSecond: number, counted = ""): string {
  const { seconds, short } = rateUnit(perSecond);
  return `${(perSecond * seconds).toFixed(1)}${counted && ` ${counted}`}/${short}`;
}

function inTwo(count: number, size: number, large: string, small: string): string {
  const rest = count % size;
  return `${Math.floor(count / size)} ${large}${rest === 0 ? "" : ` ${rest} ${small}`}`;
}

/** A value with its 95 % interval, as the command line prints it. */
export function estimateLabel(
  estimate: { value: number; low: number | null; high: number | null } | null,
): string {
  if (estimate === null) return "–";
  const { value, low, high } = estimate;
  return low === null || high === null
    ? fixedText(value, 4)
    : `${fixedText(value, 4)} [${fixedText(low, 4)}, ${fixedText(high, 4)}]`;
}

export function shareText(
  estimate: { value: number; low: number | null; high: number | null } | null,
): string {
  if (estimate === null) return "–";
  const text = (share: number) => (100 * share).toFixed(2);
  const { value, low, high } = estimate;
  return low === null || high === null
    ? `${text(value)} %`
    : `${text(value)} % [${text(low)}, ${text(high)}]`;
}

/** Short date and time in the user's time zone. */
export function whenText(iso: string): string {
  const date = new Date(iso);
  if (Number.isNaN(date.getTime())) return "";
  const pad = (part: number) => String(part).padStart(2, "0");
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${pad(date.getHours())}:${pad(date.getMinutes())}`;
}

export type RewardMark = "pass" | "part" | "fail" | "none";

/** How a reward compares to the pass threshold. */
export function rewardMark(reward: number | null, threshold: number): RewardMark {
  if (reward === null) return "none";
  if (reward >= threshold) return "pass";
  return reward > 0 ? "part" : "fail";
}
