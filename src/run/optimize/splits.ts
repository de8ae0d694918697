import { createHash } from "node:crypto";
import { dumpsCompact } from "../../base/python/json/door.ts";
import { type Row, readRows } from "../../records/files/door.ts";
import type { RunInput } from "../evaluation-input.ts";
import { invalid } from "./components.ts";

export const SPLITS = ["train", "val", "test"] as const;
export type SplitName = (typeof SPLITS)[number];

/** How many rows a split gets of the input, or the file with its rows. */
export type SplitSource = number | string;

/** A row with the index that identifies its task in all batches. */
export interface Task {
  index: number;
  row: Row;
  /** Where the user finds the row: `rows.jsonl:3`, or `input[2]`. */
  source: string;
}

export type Splits = Readonly<Record<SplitName, readonly Task[]>>;

/** Fewer tasks than this say nothing: the interval of the test needs some, and a candidate is judged by the others. */
export const LEAST_TASKS: Readonly<Record<SplitName, number>> = { train: 3, val: 3, test: 5 };

/** Rows, or a file; `sourceOf` names where the rows of a generated file come from. */
type SplitInput = string | readonly Row[] | RunInput;

/**
 * Divides the rows into three splits without a common row. Rows of the input are shuffled by the seed; equal rows count
 * once.
 */
export async function makeSplits(
  input: SplitInput | undefined,
  sources: Readonly<Record<SplitName, SplitSource>>,
  {
    random,
    onNotice,
    signal,
  }: { random: () => number; onNotice: (text: string) => void; signal?: AbortSignal },
): Promise<Splits> {
  const owners = new Map<string, string>();
  const splits: Record<SplitName, Task[]> = { train: [], val: [], test: [] };
  let index = 0;
  const add = (split: SplitName, found: FoundRow) => splits[split].push({ index: index++, ...found });
  for (const split of SPLITS) {
    const source = sources[split];
    if (typeof source !== "string") continue;
    for await (const { row, line } of readRows(source, { signal })) {
      const key = digestOf(row);
      const owner = owners.get(key);
      if (owner !== undefined && !owner.startsWith(`${split}:`))
        throw invalid(
          `${source}:${line.number}: the row is also in ${owner}. The three splits must not share a row.`,
        );
      if (owner === undefined) add(split, { row, source: `${source}:${line.number}` });
      owners.set(key, `${split}: ${source}:${line.number}`);
    }
  }
  const counted = SPLITS.filter((split) => typeof sources[split] === "number");
  if (counted.length > 0) {
    if (input === undefined) throw invalid("Splits given as numbers need rows: name them with --input FILE.");
    const { rows, repeated } = await distinctRows(input, owners, signal);
    const needed = counted.reduce((sum, split) => sum + Number(sources[split]), 0);
    if (repeated > 0)
      onNotice(
        `${repeated} rows of the input occur more than once, or in the file of a split; they count once.`,
      );
    if (rows.length < needed)
      throw invalid(
        `The input has ${rows.length} different rows; ${counted.map((split) => `${split} ${sources[split]}`).join(", ")} need ${needed}.`,
      );
    shuffle(rows, random);
    for (const split of counted)
      for (const found of rows.splice(0, Number(sources[split]))) add(split, found);
  }
  for (const split of SPLITS)
    if (splits[split].length < LEAST_TASKS[split])
      throw invalid(
        `The split '${split}' has ${splits[split].length} tasks; at least ${LEAST_TASKS[split]} are needed.`,
      );
  return splits;
}

type FoundRow = Pick<Task, "row" | "source">;

async function distinctRows(
  input: SplitInput,
  owners: ReadonlyMap<string, string>,
  signal: AbortSignal | undefined,
): Promise<{ rows: FoundRow[]; repeated: number }> {
  const seen = new Set(owners.keys());
  const rows: FoundRow[] = [];
  let repeated = 0;
  const take = (row: Row, source: string) => {
    const key = digestOf(row);
    if (seen.has(key)) repeated++;
    else rows.push({ row, source });
    seen.add(key);
  };
  if (Array.isArray(input)) {
    for (const [place, row] of (input as readonly Row[]).entries()) take(row, `input[${place}]`);
  } else {
    const { path, sourceOf } = typeof input === "string" ? { path: input } : (input as RunInput);
    for await (const { row, line } of readRows(path, { signal }))
      take(row, sourceOf?.(line.number) ?? `${path}:${line.number}`);
  }
  return { rows, repeated };
}

/** Identifies a row by its content; indices of earlier runs do not count. */
export function digestOf(row: Row): string {
  const content = Object.entries(row).filter(([key]) => !key.startsWith("_ng_"));
  return createHash("sha256")
    .update(dumpsCompact(Object.fromEntries(content)))
    .digest("hex");
}

/** Fisher-Yates, in place. */
export function shuffle<Item>(items: Item[], random: () => number): Item[] {
  for (let last = items.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [items[last], items[other]] = [items[other] as Item, items[last] as Item];
  }
  return items;
}
