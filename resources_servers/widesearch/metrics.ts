import { toPyFloat } from "nemo-gym/python";
import { readDate } from "./dates.ts";
import type { Metric } from "./row.ts";

const MAX_DAYS = 31;

interface Pair {
  response: string;
  target: string;
}

const METRICS: Record<Exclude<Metric, "llm_judge">, (pair: Pair, criterion: unknown) => boolean> = {
  exact_match: ({ response, target }) => response.toLowerCase() === target.toLowerCase(),
  url_match({ response, target }) {
    const [given, wanted] = [hosts(response), hosts(target)];
    return given.size === wanted.size && [...given].every((host) => wanted.has(host));
  },
  number_near({ response, target }, criterion) {
    const [given, wanted] = [number(response), number(target)];
    if (given === undefined || wanted === undefined) return response === target;
    const share = toPyFloat(criterion) ?? 0;
    return Math.abs(given - wanted) <= Math.abs(wanted) * share;
  },
  date_near({ response, target }) {
    const [given, wanted] = [readDate(response), readDate(target)];
    if (given === undefined || wanted === undefined) return given === wanted;
    return Math.abs(given - wanted) <= MAX_DAYS;
  },
};

/** Whether a cell of the answer passes, as 1 or 0. */
export function metricScore(metric: Metric, pair: Pair, criterion: unknown): number {
  return metric === "llm_judge" ? 0 : Number(METRICS[metric](pair, criterion));
}

/** The host names of all addresses in a text. */
function hosts(text: string): Set<string> {
  const urls = text.match(/https?:\/\/\S+/g) ?? [];
  return new Set(urls.map((url) => /^https?:\/\/([^/?#]*)/.exec(url)?.[1] ?? ""));
}

/** A number, also in percent. */
function number(text: string): number | undefined {
  const value = toPyFloat(text.replaceAll("%", "")) ?? undefined;
  return value === undefined || !text.includes("%") ? value : value / 100;
}
