import { loads } from "../../python/json/json-loads.ts";
import type {
  Overview,
  PanelTexts,
  RowAnswer,
  RowGone,
  RowRef,
  RowsPage,
  TasksPage,
  ViewerStatus,
} from "../api-types.ts";

type Parameters = Readonly<Record<string, string | number | undefined>>;

/** The server refused, or could not be reached. */
export class ApiError extends Error {}

export const api = {
  status: (signal?: AbortSignal) => get<ViewerStatus>("status", {}, signal),
  rollouts: (parameters: Parameters, signal?: AbortSignal) => get<RowsPage>("rollouts", parameters, signal),
  overview: (parameters: Parameters, signal?: AbortSignal) => get<Overview>("overview", parameters, signal),
  tasks: (parameters: Parameters, signal?: AbortSignal) => get<TasksPage>("tasks", parameters, signal),
  statistics: (signal?: AbortSignal) => get<PanelTexts>("statistics", {}, signal),
  /** A row with its numbers and key order as they were written; undefined when the files are others than those of `generation`. */
  row: async (
    { source, line }: RowRef,
    generation: number,
    signal?: AbortSignal,
  ): Promise<RowAnswer | undefined> => {
    const written = await text("row", { source, line, generation }, signal);
    const answer = loads(written, { allowNonFinite: true, maxDepth: 1002 }) as RowAnswer | RowGone;
    return answer.state === "changed" ? undefined : answer;
  },
};

async function get<T>(name: string, parameters: Parameters, signal?: AbortSignal): Promise<T> {
  return JSON.parse(await text(name, parameters, signal)) as T;
}

async function text(name: string, parameters: Parameters, signal?: AbortSignal): Promise<string> {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "") search.set(key, String(value));
  }
  let response: Response;
  try {
    response = await fetch(`api/${name}?${search}`, signal ? { signal } : {});
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError("The viewer's server does not answer. Has it been stopped?", { cause: error });
  }
  const body = await response.text();
  if (!response.ok) throw new ApiError(errorIn(body) ?? `The server answered ${response.status}.`);
  return body;
}

function errorIn(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { error?: string }).error;
  } catch {
    // Some proxy in between answered in its own words.
    return undefined;
  }
}
