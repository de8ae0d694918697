import { loads } from "../../../base/python/json/door.ts";
import type {
  Annotation,
  CompareAnswer,
  LabelItem,
  LabelState,
  LiveAnswer,
  LogAnswer,
  Optimization,
  Overview,
  PanelTexts,
  RowAnswer,
  RowGone,
  RowRef,
  RowsPage,
  RunsAnswer,
  ShownBoard,
  TaskList,
  ViewerStatus,
} from "../../api-types.ts";
import type { EmbeddedRun } from "../../share/embedded.ts";
import { staticApi } from "./static-api.ts";

export type ApiParameters = Readonly<Record<string, string | number | undefined>>;
export type RunId = string | null;

/** The server rejected the request, or could not be reached. */
export class ApiError extends Error {}

/** The data source of the pages: the server, or data embedded in the page. */
export type Api = typeof server;

const server = {
  isStatic: false,
  /** Set where the page holds only some rows of a run. */
  chosen: null as EmbeddedRun["chosen"],
  runs: (signal?: AbortSignal) => get<RunsAnswer>("runs", null, {}, signal),
  status: (run: RunId, signal?: AbortSignal) => get<ViewerStatus>("status", run, {}, signal),
  rollouts: (run: RunId, parameters: ApiParameters, signal?: AbortSignal) =>
    get<RowsPage>("rollouts", run, parameters, signal),
  overview: (run: RunId, parameters: ApiParameters, signal?: AbortSignal) =>
    get<Overview>("overview", run, parameters, signal),
  tasks: (run: RunId, parameters: ApiParameters, signal?: AbortSignal) =>
    get<TaskList>("tasks", run, parameters, signal),
  statistics: (run: RunId, signal?: AbortSignal) => get<PanelTexts>("statistics", run, {}, signal),
  /** A row with numbers and key order as written; undefined if the files of `generation` were replaced. */
  row: async (run: RunId, { source, line }: RowRef, generation: number, signal?: AbortSignal) =>
    readRow(await text("row", run, { source, line, generation }, signal)),
  /** A value that was removed from a large row. */
  part: async (run: RunId, { source, line }: RowRef, from: number, to: number) =>
    loads(await text("part", run, { source, line, from, to }), { allowNonFinite: true, maxDepth: 1002 }),
  logs: (run: RunId, parameters: ApiParameters, signal?: AbortSignal) =>
    get<LogAnswer>("logs", run, parameters, signal),
  compare: (parameters: ApiParameters, signal?: AbortSignal) =>
    get<CompareAnswer>("compare", null, parameters, signal),
  board: (signal?: AbortSignal) => get<ShownBoard>("board", null, {}, signal),
  optimization: (name: string, signal?: AbortSignal) =>
    get<Optimization>("optimization", null, { name }, signal),
  live: (run: RunId, signal?: AbortSignal) => get<LiveAnswer>("live", run, {}, signal),
  control: (run: RunId, command: object) => post<LiveAnswer>("control", run, command),
  annotate: (run: RunId, annotation: Annotation & { task: number; rollout: number }) =>
    post<Annotation>("annotate", run, annotation),
  /** Calls `changed` on every update of the run; returns a function that ends this. */
  watch: (run: RunId, changed: () => void) => {
    const source = new EventSource(address("events", run, {}));
    source.addEventListener("change", changed);
    // The server may be gone; a request shows whether it is.
    source.addEventListener("error", changed);
    return () => source.close();
  },
  shareAddress: (run: RunId, refs: readonly RowRef[]): string | undefined =>
    address("share", run, { rows: refs.map(({ source, line }) => `${source}:${line}`).join(",") }),
};

/** The queue of rollouts to label. Only the server of `gym judge label` has one. */
export const labelApi = {
  state: (labeller: string, place?: { task: number; rollout: number }, signal?: AbortSignal) =>
    get<LabelState>("label", null, { labeller, ...place }, signal),
  submit: (label: {
    labeller: string;
    task: number;
    rollout: number;
    digest: string;
    label: NonNullable<LabelItem["label"]>;
    note: string;
  }) => post<LabelState>("label", null, label),
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
  return ask(address(name, run, parameters), { signal });
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
