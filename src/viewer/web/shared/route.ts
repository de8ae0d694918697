import type { RowRef } from "../../api-types.ts";

/** The current page. */
export type View =
  /** With the address of a page that does not exist. */
  | { name: "runs"; unknown?: string }
  | { name: "overview" }
  | { name: "rollouts" }
  | { name: "tasks" }
  | { name: "task"; task: number }
  | { name: "rollout"; task: number; rollout: number }
  | { name: "row"; ref: RowRef }
  | { name: "compare" }
  | { name: "live" }
  | { name: "files" };

/** Parameters of the address. */
const KEYS = [
  "q",
  "sort",
  "order",
  "pass",
  "set",
  "by",
  "against",
  "runs",
  "change",
  "match",
  "hide",
  "item",
  "turn",
  "chars",
  "panes",
  "name",
] as const;
export type ParameterKey = (typeof KEYS)[number];
export type Parameters = Partial<Record<ParameterKey, string>>;

/** A location in the viewer: run, page and selection. `run` is null for the only run of a server. */
export interface Route {
  run: string | null;
  view: View;
  parameters: Parameters;
}

/** Reads the part of an address after `#`. */
export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  const words = path.split("/").filter((word) => word !== "");
  let run: string | null = null;
  if (words[0] === "run" && words[1] !== undefined) {
    run = decoded(words[1]);
    words.splice(0, 2);
  }
  return { run, view: viewOf(words, run), parameters: parametersOf(new URLSearchParams(search)) };
}

function viewOf(words: readonly string[], run: string | null): View {
  const [first, second, third, fourth] = words;
  const [a, b] = [wholeNumber(second), wholeNumber(fourth)];
  switch (first) {
    case "task":
      if (a === undefined) break;
      return third === "rollout" && b !== undefined
        ? { name: "rollout", task: a, rollout: b }
        : { name: "task", task: a };
    case "sample":
    case "failure":
      if (a === undefined || a < 1) break;
      return { name: "row", ref: { source: first === "failure" ? "failures" : "rollouts", line: a } };
    case "runs":
    case "overview":
    case "rollouts":
    case "tasks":
    case "compare":
    case "live":
    case "files":
      return { name: first };
  }
  if (run !== null) return { name: "overview" };
  return words.length === 0 ? { name: "runs" } : { name: "runs", unknown: words.join("/") };
}

/** Addresses of earlier versions had a parameter for each filter. */
const EARLIER: Readonly<Record<string, (value: string) => string>> = {
  text: (value) => `"${value.replace(/["\\]/g, "\\$&")}"`,
  status: (value) => (value === "invalid" ? "is:bad" : value === "all" ? "" : `is:${value}`),
  reward_min: (value) => `reward>=${value}`,
  reward_max: (value) => `reward<=${value}`,
  agent: (value) => `agent:"${value}"`,
  failure: (value) => `error:"${value}"`,
};

function parametersOf(search: URLSearchParams): Parameters {
  const parameters: Parameters = {};
  for (const key of KEYS) {
    const value = search.get(key);
    if (value) parameters[key] = value;
  }
  const earlier = Object.entries(EARLIER).flatMap(([name, convert]) => {
    const value = search.get(name);
    return value ? [convert(value)] : [];
  });
  if (earlier.length > 0) parameters.q = [parameters.q, ...earlier].filter(Boolean).join(" ");
  const threshold = search.get("pass_threshold");
  if (threshold && !parameters.pass) parameters.pass = threshold;
  return parameters;
}

/** Writes a route as the part of an address after `#`, with the `#`. */
export function formatRoute({ run, view, parameters }: Route): string {
  const search = new URLSearchParams();
  for (const key of KEYS) {
    const value = parameters[key];
    if (value) search.set(key, value);
  }
  const path = `${run === null ? "" : `run/${encodeURIComponent(run)}/`}${viewPath(view)}`;
  const text = search.toString();
  return `#/${path}${text === "" ? "" : `?${text}`}`;
}

function viewPath(view: View): string {
  switch (view.name) {
    case "task":
      return `task/${view.task}`;
    case "rollout":
      return `task/${view.task}/rollout/${view.rollout}`;
    case "row":
      return `${view.ref.source === "failures" ? "failure" : "sample"}/${view.ref.line}`;
    default:
      return view.name;
  }
}

/** The view of a row: by task and rollout if it has them, so that the link stays valid when the file is replaced. */
export function viewOfRow(row: RowRef & { task: number | null; rollout: number | null }): View {
  return row.source === "rollouts" && row.task !== null && row.rollout !== null
    ? { name: "rollout", task: row.task, rollout: row.rollout }
    : { name: "row", ref: { source: row.source, line: row.line } };
}

function wholeNumber(word: string | undefined): number | undefined {
  return word !== undefined && /^\d{1,15}$/.test(word) ? Number(word) : undefined;
}

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
