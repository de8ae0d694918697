import type { RowRef } from "../api-types.ts";

/** What the main part of the page shows. */
export type View =
  | { name: "first" }
  | { name: "row"; ref: RowRef }
  | { name: "rollout"; task: number; rollout: number }
  | { name: "task"; task: number }
  | { name: "overview" };

/** The filters that stand in the address, so that a link shows the same list. */
export const FILTER_KEYS = [
  "text",
  "status",
  "agent",
  "failure",
  "reward_min",
  "reward_max",
  "sort",
  "order",
  "pass_threshold",
] as const;
export type FilterKey = (typeof FILTER_KEYS)[number];
export type Filters = Partial<Record<FilterKey, string>>;

export interface Route {
  view: View;
  filters: Filters;
}

/** Reads the part of the address behind `#`; what it does not know shows the first rollout. */
export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#/, "").split(/\?(.*)/s);
  const parameters = new URLSearchParams(search);
  const filters: Filters = {};
  for (const key of FILTER_KEYS) {
    const value = parameters.get(key);
    if (value) filters[key] = value;
  }
  return { view: parseView(path.split("/").filter(Boolean)), filters };
}

function parseView([first, second, third, fourth]: string[]): View {
  const number = wholeNumber(second);
  if (first === "overview") return { name: "overview" };
  if (number === undefined) return { name: "first" };
  if (first === "sample" && number > 0) return { name: "row", ref: { source: "rollouts", line: number } };
  if (first === "failure" && number > 0) return { name: "row", ref: { source: "failures", line: number } };
  if (first !== "task") return { name: "first" };
  const rollout = third === "rollout" ? wholeNumber(fourth) : undefined;
  return rollout === undefined ? { name: "task", task: number } : { name: "rollout", task: number, rollout };
}

/** The address of a route, with its `#`. */
export function formatRoute({ view, filters }: Route): string {
  const parameters = new URLSearchParams();
  for (const key of FILTER_KEYS) {
    const value = filters[key];
    if (value) parameters.set(key, value);
  }
  const search = parameters.toString();
  return `#/${viewPath(view)}${search === "" ? "" : `?${search}`}`;
}

function viewPath(view: View): string {
  switch (view.name) {
    case "first":
      return "";
    case "overview":
      return "overview";
    case "task":
      return `task/${view.task}`;
    case "rollout":
      return `task/${view.task}/rollout/${view.rollout}`;
    case "row":
      return `${view.ref.source === "failures" ? "failure" : "sample"}/${view.ref.line}`;
  }
}

/** The view of a row: by task and rollout where it has them, so that the link outlives a file written anew. */
export function viewOfRow(row: RowRef & { task: number | null; rollout: number | null }): View {
  return row.source === "rollouts" && row.task !== null && row.rollout !== null
    ? { name: "rollout", task: row.task, rollout: row.rollout }
    : { name: "row", ref: { source: row.source, line: row.line } };
}

function wholeNumber(word: string | undefined): number | undefined {
  return word !== undefined && /^\d{1,15}$/.test(word) ? Number(word) : undefined;
}
