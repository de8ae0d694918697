import type {
  GridCell,
  ListedRow,
  RowRef,
  RunEntry,
  SearchProgress,
  TaskEntry,
  TaskSet,
  TaskSort,
} from "../../api-types.ts";
import { type NumberField, parseQuery, predicateOf, type State, type TermReader } from "../../query/query.ts";
import { cellState, countSets, isInSet, type TaskFigures, taskOrder } from "../../run/task-sets.ts";
import { type EmbeddedRun, textName } from "../../share/embedded.ts";
import { type Api, ApiError, type ApiParameters, readRow } from "./api-client.ts";

/**
 * The API of a run that is embedded in the page or in files next to it; undefined when the viewer's server serves the
 * page.
 */
export async function staticApi(): Promise<Api | undefined> {
  const embedded = document.getElementById("embedded-run")?.textContent;
  if (embedded) return apiOf(JSON.parse(embedded) as EmbeddedRun);
  if (document.querySelector('meta[name="gym-viewer"]')?.getAttribute("content") !== "static")
    return undefined;
  return apiOf(JSON.parse(await loaded("run")) as EmbeddedRun);
}

/** Loads a file of the folder. It is a script, because a page opened from disk cannot read other files. */
function loaded(name: string): Promise<string> {
  const address = `data/${name}.js`;
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const missing = () => reject(new ApiError(`${address} is missing beside this page.`));
    script.addEventListener("error", missing);
    script.addEventListener("load", () => {
      const text = window.gymViewerData?.[name];
      delete window.gymViewerData?.[name];
      script.remove();
      if (text === undefined) missing();
      else resolve(text);
    });
    script.src = address;
    document.head.append(script);
  });
}

declare global {
  interface Window {
    /** Texts that the scripts of a folder store here. */
    gymViewerData?: Record<string, string>;
  }
}

function apiOf(data: EmbeddedRun): Api {
  const refuse = () => Promise.reject(new ApiError("This copy of the run has no server behind it."));
  const select = (parameters: ApiParameters): ListedRow[] => {
    const pass = Number(parameters["pass"] ?? 1);
    const rows = data.rows.filter(
      predicateOf(parseQuery(String(parameters["q"] ?? "")), readerOf(data, pass)),
    );
    return sorted(rows, String(parameters["sort"] ?? "file"), parameters["order"] === "desc" ? -1 : 1);
  };
  const searched = (parameters: ApiParameters): SearchProgress | null => {
    const hasText = parseQuery(String(parameters["q"] ?? "")).some(({ kind }) => kind === "text");
    const { length } = data.rows;
    return hasText && data.texts === null
      ? { done: true, searched_rows: length, rows: length, excerpts_only: true }
      : null;
  };
  return {
    isStatic: true,
    chosen: data.chosen,
    runs: async () => ({ root: "", runs: [runOf(data)], single: true, static: true }),
    status: async () => ({ ...data.status, indexing: false }),
    rollouts: async (_, parameters) => {
      const rows = select(parameters);
      const offset = Number(parameters["offset"] ?? 0);
      const [source, line] = String(parameters["locate"] ?? "").split(":");
      const place = rows.findIndex((row) => row.source === source && row.line === Number(line));
      return {
        version: data.status.version,
        generation: data.status.generation,
        total: rows.length,
        offset,
        rows: rows.slice(offset, offset + Number(parameters["limit"] ?? 100)),
        located: place === -1 ? null : place,
        search: searched(parameters),
        complete: true,
      };
    },
    overview: async () => data.overview,
    tasks: async (_, parameters) => {
      const tasks = tasksOf(select(parameters), Number(parameters["pass"] ?? 1));
      const counts = countSets(tasks.map(({ figures }) => figures));
      const chosen = tasks.filter(({ figures }) => isInSet(figures, (parameters["set"] ?? "all") as TaskSet));
      const by = (parameters["by"] ?? "task") as TaskSort;
      const order = taskOrder(by, parameters["order"] === "desc" ? "desc" : "asc");
      chosen.sort((a, b) => order(a.figures, b.figures));
      const offset = Number(parameters["offset"] ?? 0);
      return {
        version: data.status.version,
        total: chosen.length,
        offset,
        counts,
        tasks: chosen.slice(offset, offset + Number(parameters["limit"] ?? 100)).map(({ entry }) => entry),
        search: searched(parameters),
        complete: true,
      };
    },
    row: async (_, ref) => readRow(await rowText(data, ref)),
    part: refuse,
    statistics: refuse,
    logs: async () => ({ logs: [], name: null, lines: [], matched: false }),
    compare: refuse,
    live: async () => ({ collection: null }),
    control: refuse,
    annotate: refuse,
    watch: () => () => {},
    shareAddress: () => undefined,
  };
}

function runOf({ status, overview }: EmbeddedRun): RunEntry {
  const { reward, coverage, totals } = overview;
  return { ...status.run, reward, coverage, cost: totals.cost };
}

async function rowText(data: EmbeddedRun, ref: RowRef): Promise<string> {
  const name = textName(ref);
  const own = data.texts?.[name];
  if (own !== undefined) return own;
  if (data.texts !== null) throw new ApiError("This rollout is not part of the file.");
  return loaded(`rows/${name}`);
}

function readerOf(data: EmbeddedRun, pass: number): TermReader<ListedRow> {
  const contains = (value: string) => (name: string | null) =>
    name?.toLowerCase().includes(value.toLowerCase()) ?? false;
  return {
    number: (field) => (row) => numberOf(row, field) ?? Number.NaN,
    name: (field, value) => {
      const test = contains(value);
      switch (field) {
        case "agent":
          return (row) => test(row.agent);
        case "model":
          return (row) => test(row.model);
        case "tool":
          return (row) => row.tools.some(test);
        case "error":
          return (row) => test(row.failure);
        case "label":
          return (row) => row.annotation?.labels.some(test) ?? false;
      }
    },
    is: (state) => (row) => isIn(row, state, pass),
    text: (text) => {
      const test = contains(text);
      return (row) => test(data.texts?.[textName(row)] ?? `${row.prompt} ${row.answer}`);
    },
  };
}

function numberOf(row: ListedRow, field: NumberField): number | null {
  const fields: Record<NumberField, number | null> = {
    reward: row.reward,
    task: row.task,
    repeat: row.rollout,
    attempt: row.attempt + 1,
    turns: row.turns,
    calls: row.tool_calls,
    tokens: row.output_tokens,
    input: row.input_tokens,
    cost: row.cost,
    seconds: row.duration_ms === null ? null : row.duration_ms / 1000,
    bytes: row.bytes,
    line: row.line,
  };
  return fields[field];
}

function isIn(row: ListedRow, state: State, pass: number): boolean {
  const reward = row.masked ? null : row.reward;
  const states: Record<State, boolean> = {
    completed: row.failure === null && row.readable,
    failed: row.failure !== null,
    lost: row.lost,
    passed: reward !== null && reward >= pass,
    partial: reward !== null && reward > 0 && reward < pass,
    zero: reward !== null && reward <= 0,
    masked: row.masked,
    retried: row.failure === null && row.attempt > 0,
    bad: !row.readable,
    annotated: row.annotation !== null,
    excluded: row.annotation?.exclude ?? false,
  };
  return states[state];
}

function sorted(rows: ListedRow[], sort: string, direction: number): ListedRow[] {
  if (sort === "file") return direction === 1 ? rows : rows.reverse();
  const field = (sort === "tokens" ? "tokens" : sort) as NumberField;
  const key = (row: ListedRow) => numberOf(row, field) ?? Number.POSITIVE_INFINITY * direction;
  return rows.sort((a, b) => (key(a) === key(b) ? 0 : (key(a) - key(b)) * direction));
}

interface StaticTask {
  entry: TaskEntry;
  figures: TaskFigures;
}

function tasksOf(rows: readonly ListedRow[], pass: number): StaticTask[] {
  const tasks = new Map<number, ListedRow[]>();
  for (const row of rows) {
    if (row.task === null) continue;
    const known = tasks.get(row.task);
    if (known) known.push(row);
    else tasks.set(row.task, [row]);
  }
  return [...tasks].map(([task, own]) => {
    const cells = cellsOf(own, pass);
    const rewards = own.flatMap(({ reward, masked }) => (reward === null || masked ? [] : [reward]));
    const mean = meanOf(rewards);
    const failed = cells.filter(({ state }) => state === "failed").length;
    const figures: TaskFigures = {
      task,
      mean,
      variance: meanOf(rewards.map((reward) => (reward - mean) ** 2)),
      tokens: meanOf(own.flatMap(({ output_tokens: tokens }) => (tokens === null ? [] : [tokens]))),
      rewarded: rewards.length,
      passed: rewards.filter((reward) => reward >= pass).length,
      errored: failed > 0,
      other: undefined,
    };
    const orNull = (value: number) => (Number.isNaN(value) ? null : value);
    const { rewarded, passed } = figures;
    const entry: TaskEntry = {
      task,
      prompt: own[0]?.prompt ?? "",
      cells,
      mean: orNull(mean),
      variance: orNull(figures.variance),
      passed,
      rewarded,
      failed,
      tokens: orNull(figures.tokens),
      other: null,
    };
    return { entry, figures };
  });
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** One cell for each row that completed a repeat, or for the last failure of the repeat. */
function cellsOf(rows: readonly ListedRow[], pass: number): GridCell[] {
  const completed = rows.filter(({ failure }) => failure === null);
  const repeats = new Set(completed.map(({ rollout }) => rollout));
  const failed = new Map(
    rows.filter(({ rollout }) => !repeats.has(rollout)).map((row) => [row.rollout, row]),
  );
  const cells = [...completed, ...failed.values()].map(
    ({ source, line, rollout, reward, attempt, masked, failure, annotation, addressed }) => ({
      source,
      line,
      rollout,
      reward,
      attempt,
      addressed,
      state: cellState(
        { excluded: annotation?.exclude ?? false, failed: failure !== null, masked, reward },
        pass,
      ),
    }),
  );
  return cells.sort((a, b) => (a.rollout ?? 0) - (b.rollout ?? 0));
}
