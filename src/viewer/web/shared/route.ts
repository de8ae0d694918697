import type { ListedRow, RowRef } from "../../api-types.ts";

/** The current page. */
export type View =
  | { name: "runs" }
  | { name: "board" }
  | { name: "optimization" }
  | { name: "overview" }
  | { name: "rollouts" }
  | { name: "tasks" }
  | { name: "task"; task: number }
  | { name: "rollout"; task: number; rollout: number }
  | { name: "row"; ref: RowRef }
  | { name: "compare" }
  | { name: "live" }
  | { name: "files" }
  /** The address of a page that does not exist. */
  | { name: "unknown"; path: string };

const PAGES = [
  "runs",
  "board",
  "optimization",
  "overview",
  "rollouts",
  "tasks",
  "compare",
  "live",
  "files",
] as const;

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
  "side",
  "with",
  "base",
  "columns",
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
  const view: View =
    words.length === 0 ? { name: run === null ? "runs" : "overview" } : viewOf(words.join("/"));
  return { run, view, parameters: parametersOf(new URLSearchParams(search)) };
}

function viewOf(path: string): View {
  const page = PAGES.find((name) => name === path);
  if (page) return { name: page };
  const [, task, rollout] = /^task\/(\d{1,15})(?:\/rollout\/(\d{1,15}))?$/.exec(path) ?? [];
  if (task !== undefined)
    return rollout === undefined
      ? { name: "task", task: Number(task) }
      : { name: "rollout", task: Number(task), rollout: Number(rollout) };
  const [, file, line] = /^(sample|failure)\/(\d{1,15})$/.exec(path) ?? [];
  if (Number(line) >= 1)
    return { name: "row", ref: { source: file === "failure" ? "failures" : "rollouts", line: Number(line) } };
  return { name: "unknown", path };
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
    case "unknown":
      return view.path;
    default:
      return view.name;
  }
}

/**
 * The view of a row: by task and rollout if that address opens it, so that the link stays valid when the file is
 * replaced.
 */
export function viewOfRow({ source, line, task, rollout, addressed }: AddressedRow): View {
  return source === "rollouts" && addressed && task !== null && rollout !== null
    ? { name: "rollout", task, rollout }
    : { name: "row", ref: { source, line } };
}

type AddressedRow = Pick<ListedRow, "source" | "line" | "task" | "rollout" | "addressed">;

/** A part of an address; one that is not encoded properly stays as it is. */
export function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
