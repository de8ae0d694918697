import { loads } from "../../../python/json/json-loads.ts";
import type {
  Annotation,
  Comparison,
  LiveAnswer,
  LogAnswer,
  Overview,
  PanelTexts,
  RowAnswer,
  RowGone,
  RowRef,
  RowsPage,
  RunsAnswer,
  TasksPage,
  ViewerStatus,
} from "../../api-types.ts";
import type { EmbeddedRun } from "../../share/embedded.ts";
import { staticApi } from "./static-api.ts";

export type ApiParameters = Readonly<Record<string, string | number | undefined>>;
export type RunId = string | null;

/** The server refused the request, or could not be reached. */
export class ApiError extends Error {}

/** The data source of the pages: the server, or data embedded in the page. */
export interface Api {
  isStatic: boolean;
  /** Set where the page holds only some rows of a run. */
  chosen: EmbeddedRun["chosen"];
  runs: (signal?: AbortSignal) => Promise<RunsAnswer>;
  status: (run: RunId, signal?: AbortSignal) => Promise<ViewerStatus>;
  rollouts: (run: RunId, parameters: ApiParameters, signal?: AbortSignal) => Promise<RowsPage>;
  overview: (run: RunId, parameters: ApiParameters, signal?: AbortSignal) => Promise<Overview>;
  tasks: (run: RunId, parameters: ApiParameters, signal?: AbortSignal) => Promise<TasksPage>;
  statistics: (run: RunId, signal?: AbortSignal) => Promise<PanelTexts>;
  /** A row with numbers and key order as written; undefined if the files of `generation` were replaced. */
  row: (run: RunId, ref: RowRef, generation: number, signal?: AbortSignal) => Promise<RowAnswer | undefined>;
  /** A value that was removed from a large row. */
  part: (run: RunId, ref: RowRef, from: number, to: number) => Promise<unknown>;
  logs: (run: RunId, parameters: ApiParameters, signal?: AbortSignal) => Promise<LogAnswer>;
  compare: (parameters: ApiParameters, signal?: AbortSignal) => Promise<Comparison>;
  live: (run: RunId, signal?: AbortSignal) => Promise<LiveAnswer>;
  control: (run: RunId, command: object) => Promise<LiveAnswer>;
  annotate: (run: RunId, annotation: Annotation & { task: number; rollout: number }) => Promise<Annotation>;
  /** Calls `changed` on every update of the run. */
  watch: (run: RunId, changed: () => void) => () => void;
  shareAddress: (run: RunId, refs: readonly RowRef[]) => string | undefined;
}

const server: Api = {
  isStatic: false,
  chosen: null,
  runs: (signal) => get("runs", null, {}, signal),
  status: (run, signal) => get("status", run, {}, signal),
  rollouts: (run, parameters, signal) => get("rollouts", run, parameters, signal),
  overview: (run, parameters, signal) => get("overview", run, parameters, signal),
  tasks: (run, parameters, signal) => get("tasks", run, parameters, signal),
  statistics: (run, signal) => get("statistics", run, {}, signal),
  row: async (run, { source, line }, generation, signal) =>
    readRow(await text("row", run, { source, line, generation }, signal)),
  part: async (run, { source, line }, from, to) =>
    loads(await text("part", run, { source, line, from, to }), { allowNonFinite: true, maxDepth: 1002 }),
  logs: (run, parameters, signal) => get("logs", run, parameters, signal),
  compare: (parameters, signal) => get("compare", null, parameters, signal),
  live: (run, signal) => get("live", run, {}, signal),
  control: (run, command) => post("control", run, command),
  annotate: (run, annotation) => post("annotate", run, annotation),
  watch: (run, changed) => {
    const source = new EventSource(address("events", run, {}));
    source.addEventListener("change", changed);
    // The server may be gone; a request shows whether it is.
    source.addEventListener("error", changed);
    return () => source.close();
  },
  shareAddress: (run, refs) =>
    address("share", run, { rows: refs.map(({ source, line }) => `${source}:${line}`).join(",") }),
};

/** The answer about a row; the row itself is read exactly. */
export function readRow(written: string): RowAnswer | undefined {
  const answer = loads(written, { allowNonFinite: true, maxDepth: 1002 }) as RowAnswer | RowGone;
  return "changed" in answer ? undefined : answer;
}

function address(name: string, run: RunId, parameters: ApiParameters): string {
  const search = new URLSearchParams();
  if (run !== null) search.set("run", run);
  for (const [key, value] of Object.entries(parameters))
    if (value !== undefined && value !== "") search.set(key, String(value));
  return `api/${name}?${search}`;
}

async function get<T>(name: string, run: RunId, parameters: ApiParameters, signal?: AbortSignal): Promise<T> {
  return JSON.parse(await text(name, run, parameters, signal)) as T;
}

async function post<T>(name: string, run: RunId, body: object): Promise<T> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  };
  return JSON.parse(await ask(address(name, run, {}), init)) as T;
}

function text(name: string, run: RunId, parameters: ApiParameters, signal?: AbortSignal): Promise<string> {
  return ask(address(name, run, parameters), signal ? { signal } : {});
}

async function ask(url: string, init: RequestInit): Promise<string> {
  let response: Response;
  try {
    response = await fetch(url, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError("The viewer server does not answer. If it was stopped, start gym eval view again.", {
      cause: error,
    });
  }
  const body = await response.text();
  if (!response.ok) throw new ApiError(errorIn(body) ?? `The server answered ${response.status}.`);
  return body;
}

function errorIn(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { error?: string }).error;
  } catch {
    // A proxy in between answered with another format.
    return undefined;
  }
}

/** Selected once: the data is in the page, in files next to it, or on the server. */
export let api: Api = server;

export async function chooseApi(): Promise<void> {
  api = (await staticApi()) ?? server;
}
