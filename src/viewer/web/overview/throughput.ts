import type { Overview } from "../../api-types.ts";

const MOST_WINDOWS = 60;
const LEAST_COMPLETIONS = 10;

type History = Overview["history"];

/** Completed rollouts per second over the whole session. The first sample contains the rollouts of earlier sessions. */
export function meanRate(history: History, elapsed: number | null): number | null {
  const [first, last] = [history[0], history.at(-1)];
  return first && last && elapsed ? Math.max(0, last[1] - first[1]) / elapsed : null;
}

/**
 * Completed rollouts per second in windows of equal width, each at its end. Samples become sparser during a run, so differences
 * between neighbours cover different times. A window is at least as wide as the widest gap, and has enough completions
 * for a rate.
 */
export function ratesOver(history: History): { x: number; y: number }[] {
  const [first, last] = [history[0], history.at(-1)];
  if (!first || !last) return [];
  const span = last[0] - first[0];
  const widest = Math.max(
    ...history.slice(1).map(([seconds], place) => seconds - (history[place]?.[0] ?? 0)),
  );
  const windows = Math.floor(
    Math.min(MOST_WINDOWS, span / Math.max(widest, 0.001), (last[1] - first[1]) / LEAST_COMPLETIONS),
  );
  return Array.from({ length: Math.max(0, windows) }, (_, place) => {
    const at = (window: number) => first[0] + (span * window) / windows;
    const completed = completedAt(history, at(place + 1)) - completedAt(history, at(place));
    return { x: at(place + 1), y: Math.max(0, completed) / (span / windows) };
  });
}

/** Rollouts completed at a time, interpolated between the samples around it. */
function completedAt(history: History, seconds: number): number {
  const next = history.findIndex(([at]) => at >= seconds);
  const [to, before] = [history.at(next), history[next - 1]];
  if (!to) return 0;
  if (!before || next === -1) return to[1];
  return before[1] + ((to[1] - before[1]) * (seconds - before[0])) / (to[0] - before[0]);
}
