import path from "node:path";
import { errorMessage } from "../../base/errors.ts";
import { isObject } from "../../base/python/json/door.ts";
import { PyRandom } from "../../base/python/numbers/door.ts";
import { suggest } from "../../base/suggest.ts";
import { compileRowCondition } from "../../data/prepare/door.ts";
import { RolloutError } from "../../records/errors.ts";
import { type Row, readRows, writeFileAtomically } from "../../records/files/door.ts";

/** Which rows of the input run. All that is given must apply. */
export interface RowSelection {
  /** A Jinja expression over the fields of a row. */
  where?: string;
  /** Ids of rows, as in `id`, `uuid`, `task_id` or a similar field. */
  ids?: readonly string[];
  /** Draws this many of the rows that are left. */
  sample?: number;
  /** Of the sample. Default: 0. */
  seed?: number;
}

const ID_FIELDS = ["id", "uuid", "task_id", "problem_id", "question_id", "instance_id"];

/** The lines of a row and its repeats, which follow it. */
interface Task {
  readonly first: number;
  count: number;
}

/** Writes the selected rows to a file in `directory`. `lineOf` gives the line of the input that a line comes from. */
export async function selectRows(
  input: string,
  selection: RowSelection,
  directory: string,
  signal?: AbortSignal,
): Promise<{ path: string; lineOf: (line: number) => number }> {
  const tasks = await matchingTasks(input, selection, signal);
  const { sample, seed = 0 } = selection;
  const chosen =
    sample === undefined || sample >= tasks.length ? tasks : drawn(tasks, sample, new PyRandom(seed));
  const numbers = chosen.flatMap(({ first, count }) => Array.from({ length: count }, (_, i) => first + i));
  if (numbers.length === 0)
    throw new RolloutError("ROLLOUT_NO_ROWS_SELECTED", `No row of '${input}' meets the selection.`);
  const wanted = new Set(numbers);
  async function* lines(): AsyncGenerator<string> {
    for await (const { line } of readRows(input, { exact: true, signal }))
      if (wanted.has(line.number)) yield `${line.text}\n`;
  }
  const file = path.join(directory, "selected.jsonl");
  await writeFileAtomically(file, lines());
  return { path: file, lineOf: (line) => numbers[line - 1] ?? line };
}

/** In the order of the file. */
function drawn(tasks: readonly Task[], count: number, random: PyRandom): Task[] {
  const places = random.sample(
    tasks.map((_, index) => index),
    count,
  );
  return places.sort((a, b) => a - b).map((place) => tasks[place] as Task);
}

async function matchingTasks(
  input: string,
  { where, ids }: RowSelection,
  signal: AbortSignal | undefined,
): Promise<Task[]> {
  const condition = where === undefined ? undefined : new Condition(where);
  const wanted = ids && new Set(ids);
  const found = new Set<string>();
  const tasks: Task[] = [];
  let previous: string | undefined;
  let kept = false;
  for await (const { row, line } of readRows(input, { exact: true, signal })) {
    const { text, number } = line;
    if (text === previous) {
      const last = tasks.at(-1);
      if (kept && last !== undefined) last.count++;
      continue;
    }
    previous = text;
    const id = wanted && idsOf(row).find((name) => wanted.has(name));
    if (id !== undefined) found.add(id);
    kept = (wanted === undefined || id !== undefined) && (condition?.accepts(row, number) ?? true);
    if (kept) tasks.push({ first: number, count: 1 });
  }
  condition?.finish();
  const missing = [...(wanted ?? [])].filter((id) => !found.has(id));
  if (missing.length > 0)
    throw new RolloutError(
      "ROLLOUT_NO_ROWS_SELECTED",
      `No row of '${input}' has the id ${missing.map((id) => `'${id}'`).join(", ")} (--ids). Ids are in ${ID_FIELDS.join(", ")}, or below verifier_metadata.`,
    );
  return tasks;
}

function idsOf(row: Row): string[] {
  const { verifier_metadata: metadata } = row;
  return [row, isObject(metadata) ? metadata : {}].flatMap((object) =>
    ID_FIELDS.flatMap((name) => {
      const value = object[name];
      return typeof value === "string" || typeof value === "number" ? [String(value)] : [];
    }),
  );
}

/** `--where`. A row without a field has null there, but some row must have it. */
class Condition {
  readonly #text: string;
  readonly #accepts: (scope: Readonly<Record<string, unknown>>) => boolean;
  readonly #known = new Set<string>();
  readonly #asked = new Set<string>();

  constructor(text: string) {
    this.#text = text;
    try {
      this.#accepts = compileRowCondition(text);
    } catch (error) {
      const hint = /[^=!<>]=[^=]/.test(text) ? " Write == to compare." : "";
      throw this.#problem(`${errorMessage(error)}${hint}`);
    }
  }

  accepts(row: Row, line: number): boolean {
    const { verifier_metadata: metadata } = row;
    const fields: Record<string, unknown> = { ...(isObject(metadata) && metadata), ...row, row };
    for (const name of Object.keys(fields)) this.#known.add(name);
    const scope = new Proxy(fields, {
      get: (target, name) => {
        this.#asked.add(String(name));
        return target[name as string] ?? null;
      },
    });
    try {
      return this.#accepts(scope);
    } catch (error) {
      throw this.#problem(`line ${line}: ${errorMessage(error)}`);
    }
  }

  finish(): void {
    const unknown = [...this.#asked].find((name) => !this.#known.has(name));
    if (unknown === undefined || this.#known.size === 0) return;
    const nearest = suggest(unknown, [...this.#known]);
    throw this.#problem(
      `no row has the field '${unknown}'${nearest === undefined ? "" : `; did you mean '${nearest}'?`}`,
    );
  }

  #problem(what: string): RolloutError {
    return new RolloutError("ROLLOUT_WHERE", `--where '${this.#text}': ${what}`);
  }
}
