import type {
  ListedRow,
  RowRef,
  RunEntry,
  SearchProgress,
  ShownBoard,
  Sort,
  TaskSet,
  TaskSort,
} from "../../api-types.ts";
import { RowColumns, type RowFacts } from "../../index/row-columns.ts";
import { parseQuery } from "../../query/query.ts";
import { matchingRows, type RowCode, type RowFile, rowCodeOf } from "../../query/select-rows.ts";
import { taskGrid } from "../../run/task-grid.ts";
import { type EmbeddedRun, textName } from "../../share/embedded.ts";
import { type Api, ApiError, type ApiParameters, readRow } from "./api-client.ts";

/**
 * The API of a run that is embedded in the page or in files next to it; undefined when the viewer's server serves the
 * page.
 */
export async function staticApi(): Promise<Api | undefined> {
  const embedded = document.getElementById("embedded-run")?.textContent;
  if (embedded) return embeddedApi(JSON.parse(embedded) as EmbeddedRun);
  const kind = document.querySelector('meta[name="gym-viewer"]')?.getAttribute("content");
  if (kind === "board") return boardApi(JSON.parse(await loaded("board")) as ShownBoard);
  if (kind !== "static") return undefined;
  return embeddedApi(JSON.parse(await loaded("run")) as EmbeddedRun);
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

/** Answers with a board; its runs are not part of the folder. */
function boardApi(board: ShownBoard): Api {
  const reject = () => Promise.reject(new ApiError("This copy of a board has no server behind it."));
  return {
    isStatic: true,
    chosen: null,
    runs: async () => ({ root: "", runs: [], optimizations: [], single: false, static: true }),
    status: reject,
    rollouts: reject,
    overview: reject,
    tasks: reject,
    row: reject,
    part: reject,
    statistics: reject,
    logs: reject,
    compare: reject,
    board: async () => board,
    optimization: reject,
    live: reject,
    control: reject,
    annotate: reject,
    watch: () => () => {},
    shareAddress: () => undefined,
  };
}

/** Answers requests with the code of the server, from the rows in the page. */
export function embeddedApi(data: EmbeddedRun): Api {
  const reject = () => Promise.reject(new ApiError("This copy of the run has no server behind it."));
  const { version, generation } = data.status;
  const rows = new Map(data.rows.map((row) => [rowCodeOf(row), row]));
  const files = filesOf(data.rows, rows);
  const hasText = (file: RowFile, row: number, text: string): boolean => {
    const found = rows.get(file === files.rollouts ? row : -row - 1);
    const searched = found && (data.texts?.[textName(found)] ?? `${found.prompt} ${found.answer}`);
    return searched?.toLowerCase().includes(text.toLowerCase()) ?? false;
  };
  const select = (parameters: ApiParameters): Int32Array => {
    const { terms, sort, order, pass } = requestOf(parameters);
    return matchingRows(files, { terms, sort, order, pass }, hasText).filter((code) => rows.has(code));
  };
  const searched = (parameters: ApiParameters): SearchProgress | null => {
    const hasTexts = requestOf(parameters).terms.some(({ kind }) => kind === "text");
    const { length } = data.rows;
    return hasTexts && data.texts === null
      ? { done: true, searched_rows: length, rows: length, excerpts_only: true }
      : null;
  };
  return {
    isStatic: true,
    chosen: data.chosen,
    runs: async () => ({ root: "", runs: [runOf(data)], optimizations: [], single: true, static: true }),
    status: async () => ({ ...data.status, indexing: false }),
    rollouts: async (_, parameters) => {
      const selected = select(parameters);
      const { offset, limit } = requestOf(parameters);
      const [source, line] = String(parameters["locate"] ?? "").split(":");
      const located = selected.indexOf(rowCodeOf({ source: source as RowRef["source"], line: Number(line) }));
      return {
        version,
        generation,
        total: selected.length,
        offset,
        rows: [...selected.subarray(offset, offset + limit)].flatMap((code) => rows.get(code) ?? []),
        located: located === -1 ? null : located,
        search: searched(parameters),
        complete: true,
      };
    },
    overview: async () => data.overview,
    tasks: async (_, parameters) => {
      const selected = select({ ...parameters, sort: "file", order: "asc" });
      const grid = await taskGrid(files, selected, requestOf(parameters), undefined);
      return { version, search: searched(parameters), complete: true, ...grid };
    },
    row: async (_, ref) => readRow(await rowText(data, ref)),
    part: reject,
    statistics: reject,
    logs: async () => ({ logs: [], name: null, lines: [], matched: false }),
    compare: reject,
    board: reject,
    optimization: reject,
    live: async () => ({ collection: null }),
    control: reject,
    annotate: reject,
    watch: () => () => {},
    shareAddress: () => undefined,
  };
}

function requestOf({ q = "", sort, order, pass = 1, set, by, offset = 0, limit = 100 }: ApiParameters) {
  return {
    terms: parseQuery(String(q)),
    sort: (sort ?? "file") as Sort,
    order: order === "desc" ? ("desc" as const) : ("asc" as const),
    pass: Number(pass),
    set: (set ?? "all") as TaskSet,
    by: (by ?? "task") as TaskSort,
    offset: Number(offset),
    limit: Number(limit),
  };
}

/** The rows as the two files of a run. Lines that are not part of the copy become gaps. */
function filesOf(all: readonly ListedRow[], rows: ReadonlyMap<RowCode, ListedRow>) {
  const fileOf = (source: RowRef["source"]): RowFile => {
    const columns = new RowColumns();
    const own = all.filter((row) => row.source === source).sort((a, b) => a.line - b.line);
    for (const row of own) {
      while (columns.length < row.line - 1) columns.push({ offset: 0, length: 0 }, undefined);
      columns.push({ offset: 0, length: row.bytes }, row.readable ? factsOf(row) : undefined);
    }
    const rowAt = (row: number) => rows.get(rowCodeOf({ source, line: row + 1 }));
    return {
      columns,
      excerpts: async (row) => ({ prompt: rowAt(row)?.prompt ?? "", answer: rowAt(row)?.answer ?? "" }),
    };
  };
  const annotated = new Map(all.map((row) => [`${row.task}:${row.rollout}`, row.annotation ?? undefined]));
  return {
    rollouts: fileOf("rollouts"),
    failures: fileOf("failures"),
    annotations: { of: (task: number, rollout: number) => annotated.get(`${task}:${rollout}`) },
    isLost: (code: RowCode) => rows.get(code)?.lost ?? false,
    isAddressed: (code: RowCode) => rows.get(code)?.addressed ?? false,
  };
}

function factsOf(row: ListedRow): RowFacts {
  return {
    task: row.task ?? undefined,
    rollout: row.rollout ?? undefined,
    attempt: row.attempt,
    reward: row.reward ?? undefined,
    agent: row.agent ?? undefined,
    masked: row.masked,
    failure: row.failure ?? undefined,
    isFinal: false,
    isTerminal: false,
    model: row.model ?? undefined,
    inputTokens: row.input_tokens ?? undefined,
    outputTokens: row.output_tokens ?? undefined,
    cost: row.cost ?? undefined,
    durationMs: row.duration_ms ?? undefined,
    turns: row.turns ?? 0,
    toolCalls: row.tool_calls ?? 0,
    tools: row.tools,
    promptAt: undefined,
    answerAt: undefined,
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
