import { stat } from "node:fs/promises";
import { isObject } from "../../base/python/json/door.ts";
import { JsonlWriter, type Row, readRows, valueDifferences } from "../../records/files/door.ts";
import { invalid } from "./components.ts";

/** Differences that an error names. */
const MAX_NAMED = 5;

/** The line after failed calls of the reflection model that a resumed optimization makes again. */
const ASKED_AGAIN = "asked-again";

interface JournalOptions {
  resume: boolean;
  /** Called once for each step that is run or read, with what it used. */
  onUse?: (result: Row) => void;
}

/**
 * The append-only record of an optimization. Its steps are deterministic but for what models answer, and these answers
 * are in the record. So a resumed optimization takes the same steps again, and each step that has ended is read instead
 * of paid for twice. With a larger budget, it takes further ones. Tests do not depend on the steps before them: they are
 * found anywhere.
 */
export class Journal {
  readonly #writer: JsonlWriter;
  readonly #earlier: readonly Row[];
  readonly #onUse: (result: Row) => void;
  readonly #counted = new Set<Row>();
  #next = 0;

  private constructor(writer: JsonlWriter, earlier: readonly Row[], onUse: (result: Row) => void) {
    this.#writer = writer;
    this.#earlier = earlier;
    this.#onUse = onUse;
  }

  static async open(file: string, { resume, onUse = () => {} }: JournalOptions): Promise<Journal> {
    const earlier: Row[] = [];
    if ((await stat(file).catch(() => undefined)) !== undefined)
      for await (const { row } of readRows(file, { onTornLine: () => {} }))
        if (row["kind"] === ASKED_AGAIN) setFailuresAside(earlier);
        else earlier.push(row);
    // A session that ended before its first step has left an empty file.
    if (earlier.length > 0 && !resume)
      throw invalid(
        `'${file}' exists: continue that optimization with --resume, or choose another directory.`,
      );
    const writer = await JsonlWriter.open(file, { fsync: "always" });
    // The reflection model may answer now, or the budget may be larger.
    if (setFailuresAside(earlier)) await writer.append(JSON.stringify({ kind: ASKED_AGAIN, key: {} }));
    return new Journal(writer, earlier, onUse);
  }

  /** Whether an earlier session has recorded steps. */
  get isResumed(): boolean {
    return this.#earlier.length > 0;
  }

  /** Number of recorded steps that this session has not taken. */
  get unread(): number {
    return this.#earlier.slice(this.#next).filter((row) => !standsAside(row)).length;
  }

  /** Dollars that the recorded steps have spent. */
  get spentEarlier(): number {
    return this.#earlier.reduce((sum, { spent }) => sum + (typeof spent === "number" ? spent : 0), 0);
  }

  /**
   * Runs a step and records its result, or returns the result that is in the record. A step that the budget ended early
   * leaves only its costs in the record, so that it is continued when the optimization is resumed with a larger budget.
   */
  async step<Result extends Row>(kind: string, key: Row, run: () => Promise<Result>): Promise<Result> {
    const own = JSON.parse(JSON.stringify(key)) as Row;
    const known = own["split"] === "test" ? this.#test(own) : this.#following(kind, own);
    if (known !== undefined) {
      this.#count(known);
      const { kind: _, key: __, ...result } = known;
      return result as unknown as Result;
    }
    const result = await run();
    const record =
      result["exhausted"] === true
        ? { kind: "partial", key, rollouts: 0, tokens: 0, spent: result["spent"] }
        : { kind, key, ...result };
    await this.#writer.append(JSON.stringify(record));
    this.#onUse(result);
    return result;
  }

  #test(key: Row): Row | undefined {
    return this.#earlier.find(
      (row) => row["kind"] !== "partial" && valueDifferences(row["key"], key, "").length === 0,
    );
  }

  /** The next record, which must be of this step. */
  #following(kind: string, key: Row): Row | undefined {
    for (; ; this.#next++) {
      const row = this.#earlier[this.#next];
      if (row === undefined) return undefined;
      if (!standsAside(row)) break;
      this.#count(row);
    }
    const known = this.#earlier[this.#next++] as Row;
    const differences =
      known["kind"] === kind
        ? valueDifferences(known["key"], key, "")
        : [`the step was '${known["kind"]}', is '${kind}'`];
    if (differences.length > 0) throw this.#otherRun(differences);
    return known;
  }

  #otherRun(differences: readonly string[]): Error {
    const named = differences.slice(0, MAX_NAMED).map((difference) => `  - ${difference}`);
    if (differences.length > MAX_NAMED) named.push(`  … and ${differences.length - MAX_NAMED} more`);
    return invalid(
      `The optimization in '${this.#writer.path}' has other inputs or options (step ${this.#next}):\n${named.join("\n")}\n` +
        "Resume it with the same ones, or choose another directory.",
    );
  }

  #count(row: Row): void {
    if (this.#counted.has(row)) return;
    this.#counted.add(row);
    this.#onUse(row);
  }

  close(): Promise<void> {
    return this.#writer.close();
  }
}

/** Leaves only the costs of the failed calls of the reflection model at the end of the record; returns whether there are any. */
function setFailuresAside(rows: Row[]): boolean {
  let isFound = false;
  for (let place = rows.length - 1; place >= 0; place--) {
    const row = rows[place] as Row;
    if (standsAside(row)) continue;
    if (row["broken"] !== true) break;
    rows[place] = { ...row, kind: "partial" };
    isFound = true;
  }
  return isFound;
}

/** Tests and interrupted steps are not part of the order. */
function standsAside({ kind, key }: Row): boolean {
  return kind === "partial" || (isObject(key) && key["split"] === "test");
}
