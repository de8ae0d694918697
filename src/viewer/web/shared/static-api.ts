import type { GridCell, ListedRow, RowRef, TaskEntry } from "../../api-types.ts";
import { type NumberField, parseQuery, predicateOf, type State, type TermReader } from "../../query/query.ts";
import { type EmbeddedRun, textName } from "../../share/embedded.ts";
import { type Api, ApiError, type ApiParameters, readRow } from "./api-client.ts";

/** The run that is part of the page, or lies in files beside it; undefined when the page comes from the viewer's server. */
export async function staticApi(): Promise<Api | undefined> {
  const embedded = document.getElementById("embedded-run")?.textContent;
  if (embedded) return apiOf(JSON.parse(embedded) as EmbeddedRun);
  if (document.querySelector('meta[name="gym-viewer"]')?.getAttribute("content") !== "static")
    return undefined;
  const response = await fetch("data/run.json");
  if (!response.ok) throw new ApiError("data/run.json is missing beside this page.");
  return apiOf((await response.json()) as EmbeddedRun);
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
  return {
    isStatic: true,
    runs: async () => ({ root: "", runs: [data.run], single: true, static: true }),
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
        search: null,
      };
    },
    overview: async () => data.overview,
    tasks: async (_, parameters) => {
      const pass = Number(parameters["pass"] ?? 1);
      const tasks = tasksOf(select(parameters), pass);
      const offset = Number(parameters["offset"] ?? 0);
      const count = (test: (task: TaskEntry) => boolean) => tasks.filter(test).length;
      const sets = {
        all: () => true,
        mixed: ({ passed, rewarded }: TaskEntry) => passed > 0 && passed < rewarded,
        always_fail: ({ passed, rewarded }: TaskEntry) => rewarded > 0 && passed === 0,
        always_pass: ({ passed, rewarded }: TaskEntry) => rewarded > 0 && passed === rewarded,
        errored: ({ failed }: TaskEntry) => failed > 0,
        flipped: () => false,
      };
      const set = String(parameters["set"] ?? "all") as keyof typeof sets;
      const chosen = tasks.filter(sets[set]);
      const by = String(parameters["by"] ?? "task");
      const key = (task: TaskEntry) =>
        (by === "mean"
          ? task.mean
          : by === "variance"
            ? task.variance
            : by === "length"
              ? task.tokens
              : task.task) ?? 0;
      chosen.sort((a, b) => (key(a) - key(b)) * (parameters["order"] === "desc" ? -1 : 1) || a.task - b.task);
      return {
        version: data.status.version,
        total: chosen.length,
        offset,
        counts: {
          all: tasks.length,
          mixed: count(sets.mixed),
          always_fail: count(sets.always_fail),
          always_pass: count(sets.always_pass),
          errored: count(sets.errored),
          flipped: 0,
        },
        tasks: chosen.slice(offset, offset + Number(parameters["limit"] ?? 100)),
        search: null,
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

async function rowText(data: EmbeddedRun, ref: RowRef): Promise<string> {
  const name = textName(ref);
  const own = data.texts?.[name];
  if (own !== undefined) return own;
  if (data.texts !== null) throw new ApiError("This rollout is not part of the file.");
  const response = await fetch(`data/rows/${name}.json`);
  if (!response.ok) throw new ApiError(`data/rows/${name}.json is missing.`);
  return response.text();
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
    attempt: row.attempt,
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

function tasksOf(rows: readonly ListedRow[], pass: number): TaskEntry[] {
  const tasks = new Map<number, ListedRow[]>();
  for (const row of rows) if (row.task !== null) tasks.set(row.task, [...(tasks.get(row.task) ?? []), row]);
  return [...tasks].map(([task, own]) => {
    const byRepeat = new Map<number | null, ListedRow>();
    for (const row of own) if (byRepeat.get(row.rollout)?.failure !== null) byRepeat.set(row.rollout, row);
    const cells = [...byRepeat.values()].map((row) => cellOf(row, pass));
    const rewards = own.flatMap(({ reward, masked }) => (reward === null || masked ? [] : [reward]));
    const mean =
      rewards.length === 0 ? null : rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    return {
      task,
      prompt: own[0]?.prompt ?? "",
      cells: cells.sort((a, b) => (a.rollout ?? 0) - (b.rollout ?? 0)),
      mean,
      variance:
        mean === null
          ? null
          : rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / rewards.length,
      passed: rewards.filter((reward) => reward >= pass).length,
      rewarded: rewards.length,
      failed: cells.filter(({ state }) => state === "failed").length,
      tokens: own[0]?.output_tokens ?? null,
      other: null,
    };
  });
}

function cellOf(row: ListedRow, pass: number): GridCell {
  const state: GridCell["state"] = row.annotation?.exclude
    ? "excluded"
    : row.failure !== null
      ? "failed"
      : row.masked
        ? "masked"
        : row.reward === null
          ? "none"
          : row.reward >= pass
            ? "pass"
            : row.reward > 0
              ? "part"
              : "zero";
  const { source, line, rollout, reward, attempt } = row;
  return { source, line, rollout, reward, state, attempt };
}
