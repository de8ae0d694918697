import {
  checkOptions,
  flag,
  numberOption,
  type OptionTable,
  oneOfWords,
  record,
  signal,
  text,
  texts,
  whole,
} from "../../../base/check-options.ts";
import { errorMessage } from "../../../base/errors.ts";
import { dumpsCompact, loads } from "../../../base/python/json/door.ts";
import { RolloutError } from "../../errors.ts";
import { annotationsPath, type RolloutAnnotation, readAnnotations } from "../../files/annotations.ts";
import { writeFileAtomically } from "../../files/atomic-file.ts";
import { type JsonlLine, parseRow, type Row, readLines } from "../../files/jsonl-rows.ts";
import { LineAccess } from "../../files/line-access.ts";
import { keyOfRow } from "../../files/row-key.ts";
import { type AtifContext, writeAtif } from "./export-atif.ts";
import { callRecords } from "./export-calls.ts";
import type { ConversationOptions } from "./export-conversation.ts";
import {
  checkFilters,
  EXPORT_FORMATS,
  type ExportFilters,
  type ExportFormat,
  HEALTH_FILTERS,
  PAIR_SELECTIONS,
} from "./export-filters.ts";
import {
  artRecord,
  chatRecord,
  dpoRecord,
  type ExportedRollout,
  nemoRlRecord,
  sftRecord,
  trlRecord,
  verlRecord,
} from "./export-records.ts";
import {
  type ExportCandidate,
  ExportSelection,
  type FilteredCounts,
  pairsOf,
  rewardOfRow,
  type SelectedTask,
} from "./export-selection.ts";
import { csvLine, TableColumns, writeParquet } from "./export-table.ts";
import { isTokenFormat, TOKEN_ONLY_FORMATS, tokenRecords } from "./export-tokens.ts";
import { TaskInputs, type TaskRows } from "./task-inputs.ts";
import { DRIFT_POLICIES, type DriftPolicy, type TokenFormat } from "./token-sequences.ts";
import { CALL_FORMATS, type CallFormat, type VerifiedTokens, verifyTokens } from "./verify-tokens.ts";

/** Maximum number of invalid rows in a report; all are counted. */
const MAX_INVALID_LISTED = 1_000;

export interface ExportOptions extends ConversationOptions {
  rolloutsPath: string;
  outputPath: string;
  format: ExportFormat;
  filters?: ExportFilters;
  /** For formats of tasks (`verl`, `nemo-rl`); default: the sidecar of the rollouts file. */
  materializedInputsPath?: string;
  /** Training sequences of token ids (`trl`, `verl`, `nemo-rl`); `skyrl` and `prime-rl` always have them. */
  tokens?: boolean;
  /** How to treat rollouts whose calls do not continue each other (default: fork). */
  tokenDrift?: DriftPolicy;
  /** For `atif`, whose output is a new directory. */
  atif?: AtifContext;
  /** Reads the export again and compares its token ids with the rollouts. */
  verifyTokens?: boolean;
  signal?: AbortSignal;
}

const optionTable: OptionTable<ExportOptions> = {
  rolloutsPath: text,
  outputPath: text,
  format: oneOfWords(EXPORT_FORMATS),
  filters: record.optional(),
  materializedInputsPath: text.optional(),
  reasoning: oneOfWords(["think", "drop"]).optional(),
  tokens: flag.optional(),
  tokenDrift: oneOfWords(DRIFT_POLICIES).optional(),
  atif: record.optional(),
  verifyTokens: flag.optional(),
  signal: signal.optional(),
};
const filterTable: OptionTable<ExportFilters> = {
  rewardMin: numberOption.optional(),
  rewardMax: numberOption.optional(),
  passRateMin: numberOption.optional(),
  passRateMax: numberOption.optional(),
  passThreshold: numberOption.optional(),
  bestOf: whole(1).optional(),
  health: oneOfWords(HEALTH_FILTERS).optional(),
  ignoredChecks: texts.optional(),
  completeGroups: flag.optional(),
  includeMasked: flag.optional(),
  label: text.optional(),
  includeExcluded: flag.optional(),
  pairs: oneOfWords(PAIR_SELECTIONS).optional(),
  minMargin: numberOption.optional(),
  maxPairsPerTask: whole(1).optional(),
};

export interface ExportReport {
  /** Lines of the rollouts file. */
  read: number;
  /** Records written. */
  written: number;
  filtered: FilteredCounts;
  /** Rows that could not be exported; `invalidRows` names the first thousand. */
  invalid: number;
  invalidRows: { line: number; problem: string }[];
  /** Tasks without a pair (`dpo` only). */
  tasksWithoutPair: number;
  /**
   * Training sequences of token ids: rollouts with more than one sequence because their calls do not continue each
   * other.
   */
  forkedRollouts?: number;
  verifiedTokens?: VerifiedTokens;
  /** Training sequences of token ids: tasks with a failed, masked or missing repeat. */
  partialGroups?: number;
  /** Records of rollouts with a reward of 0 or less. */
  unrewarded: number;
}

/** Writes the selected rollouts in the format of a trainer; docs/reference/exports.md has the fields of each. */
export async function exportRollouts(options: ExportOptions): Promise<ExportReport> {
  checkOptions("exportRollouts", optionTable, options);
  const filters = options.filters ?? {};
  checkFilters(filters);
  checkOptions("filters", filterTable, filters);
  const job = new ExportJob(options, filters);
  await job.inputs.check();
  await job.scan();
  await job.countGroups();
  await job.write();
  await job.verify();
  return job.report;
}

/** The format of token ids to write; undefined for all other exports. */
function tokenFormatOf({ format, tokens }: ExportOptions): TokenFormat | undefined {
  if (isTokenFormat(format))
    return tokens || TOKEN_ONLY_FORMATS.some((only) => only === format) ? format : undefined;
  if (tokens) throw new RolloutError("ROLLOUT_EXPORT", `Format '${format}' does not support token ids.`);
  return undefined;
}

class ExportJob {
  readonly report: ExportReport;
  private readonly options: ExportOptions;
  private readonly filters: ExportFilters;
  private readonly selection: ExportSelection;
  private readonly columns = new TableColumns();
  private readonly tabular: boolean;
  private readonly tokenFormat: TokenFormat | undefined;
  /** The format that can be read back as token ids. */
  private readonly verifiedFormat: TokenFormat | CallFormat | undefined;
  readonly inputs: TaskInputs;
  private annotations = new Map<string, RolloutAnnotation>();

  constructor(options: ExportOptions, filters: ExportFilters) {
    this.options = options;
    this.filters = filters;
    this.selection = new ExportSelection(filters);
    this.inputs = new TaskInputs(options);
    const { format } = options;
    this.tabular = format === "csv" || format === "parquet";
    this.tokenFormat = tokenFormatOf(options);
    this.verifiedFormat = this.tokenFormat ?? CALL_FORMATS.find((one) => one === format);
    if (this.verifiedFormat === undefined && options.verifyTokens)
      throw new RolloutError(
        "ROLLOUT_EXPORT",
        `An export as '${format}' has no token ids to verify. trl, verl and nemo-rl have them with --tokens; skyrl, prime-rl, art, atif and calls always.`,
      );
    this.report = {
      read: 0,
      written: 0,
      filtered: this.selection.filtered,
      invalid: 0,
      invalidRows: [],
      tasksWithoutPair: 0,
      unrewarded: 0,
    };
  }

  /** First pass: finds the usable rollouts, and the problems of the others. */
  async scan(): Promise<void> {
    const { rolloutsPath, signal } = this.options;
    this.annotations = await readAnnotations(annotationsPath(rolloutsPath), { signal });
    for await (const line of readLines(rolloutsPath, { signal })) {
      this.report.read++;
      const problem = this.scanLine(line);
      if (problem !== undefined) this.reject(line.number, problem);
    }
  }

  /** Compares the repeats of each task with the requested number. */
  async countGroups(): Promise<void> {
    const { completeGroups } = this.filters;
    if (!completeGroups && this.tokenFormat === undefined) return;
    try {
      const expected = await this.inputs.repeatsByTask();
      if (completeGroups) this.selection.expected = expected;
      else this.report.partialGroups = this.selection.partialGroups(expected);
    } catch (error) {
      if (completeGroups || !this.inputs.isAbsent(error)) throw error;
    }
  }

  private scanLine(line: JsonlLine): string | undefined {
    let row: Row;
    try {
      row = parseRow(this.options.rolloutsPath, line);
    } catch (error) {
      return errorMessage(error).replace(/^.*?:\d+: /, "");
    }
    const key = keyOfRow(row);
    if (key === undefined) return "the row lacks '_ng_task_index' or '_ng_rollout_index'";
    if (row["_ng_failure_class"] !== undefined)
      return `the rollout failed (${String(row["_ng_failure_class"])})`;
    const reward = rewardOfRow(row);
    if (reward === undefined) return "the row has no numeric 'reward'";
    if (this.selection.find(key.taskIndex, key.rolloutIndex))
      return `rollout ${key.taskIndex}:${key.rolloutIndex} occurs twice`;
    if (this.tabular) this.columns.see(row);
    const candidate = { rolloutIndex: key.rolloutIndex, reward, offset: line.offset, line: line.number };
    const annotation = this.annotations.get(`${key.taskIndex}:${key.rolloutIndex}`);
    this.selection.add(key.taskIndex, candidate, row, annotation);
    return undefined;
  }

  private reject(line: number, problem: string): void {
    this.report.invalid++;
    if (this.report.invalidRows.length < MAX_INVALID_LISTED) this.report.invalidRows.push({ line, problem });
  }

  /** Second pass: the selected rollouts, task by task. */
  async write(): Promise<void> {
    const { format, outputPath } = this.options;
    const file = new LineAccess(this.options.rolloutsPath);
    try {
      if (format === "atif") await this.writeTrajectories(file);
      else if (format === "parquet") await writeParquet(outputPath, this.columns.list(), this.cells(file));
      else if (format === "csv") await writeFileAtomically(outputPath, this.csv(file));
      else await writeFileAtomically(outputPath, this.jsonLines(await this.records(file)));
    } finally {
      file.close();
    }
  }

  private async writeTrajectories(file: LineAccess): Promise<void> {
    const { atif, outputPath, rolloutsPath } = this.options;
    const [invalid] = this.report.invalidRows;
    if (!atif)
      throw new RolloutError("ROLLOUT_EXPORT", "Format 'atif' needs a session id and an agent version.");
    if (invalid)
      throw new RolloutError("ROLLOUT_EXPORT", `${rolloutsPath}: line ${invalid.line}: ${invalid.problem}`);
    this.report.written = await writeAtif(outputPath, this.rollouts(file), atif);
  }

  /** With `verifyTokens`: the counts of the comparison with the rollouts. */
  async verify(): Promise<void> {
    const { outputPath, verifyTokens: wanted, tokenDrift: drift = "fork", signal } = this.options;
    const { verifiedFormat: format } = this;
    if (!wanted || format === undefined) return;
    const [invalid] = this.report.invalidRows;
    if (this.report.written === 0 && invalid)
      throw new RolloutError(
        "ROLLOUT_EXPORT",
        `${this.options.rolloutsPath}: no record was written to verify. Line ${invalid.line}: ${invalid.problem}`,
      );
    const file = new LineAccess(this.options.rolloutsPath);
    try {
      const rolloutOf = (task: number, rollout: number) => {
        const offset = this.selection.find(task, rollout)?.offset;
        return offset === undefined ? undefined : (JSON.parse(file.lineAt(offset)) as Row);
      };
      this.report.verifiedTokens = await verifyTokens({ path: outputPath, format, drift, rolloutOf, signal });
    } finally {
      file.close();
    }
  }

  private async records(file: LineAccess): Promise<Iterable<Row>> {
    const { format } = this.options;
    const { tokenFormat } = this;
    if (tokenFormat) return this.sequences(file, tokenFormat);
    if (format === "dpo") return this.pairs(file);
    if (format === "calls") return this.several(file, callRecords);
    if (format === "verl" || format === "nemo-rl") {
      const toRecord = format === "verl" ? verlRecord : nemoRlRecord;
      return this.taskRecords(file, await this.inputs.open(), toRecord);
    }
    const { passThreshold = 1 } = this.filters;
    const toRecord = { sft: sftRecord, chat: chatRecord, trl: trlRecord, art: artRecord }[
      format as "sft" | "chat" | "trl" | "art"
    ];
    return this.each(file, (rollout) => toRecord(rollout, { ...this.options, passThreshold }));
  }

  private *rollouts(file: LineAccess): Generator<ExportedRollout> {
    for (const task of this.selection.selected()) {
      for (const candidate of task.rollouts) yield this.load(file, task, candidate);
    }
  }

  private load(file: LineAccess, task: SelectedTask, candidate: ExportCandidate): ExportedRollout {
    return { row: JSON.parse(file.lineAt(candidate.offset)) as Row, task, candidate };
  }

  /** Converts each rollout; one that cannot be converted is reported and skipped. */
  private *each<Result>(file: LineAccess, convert: (rollout: ExportedRollout) => Result): Generator<Result> {
    for (const rollout of this.rollouts(file)) {
      const result = this.attempt(rollout.candidate.line, () => convert(rollout));
      if (result === undefined) continue;
      if (rollout.candidate.reward <= 0) this.report.unrewarded++;
      yield result;
    }
  }

  private *sequences(file: LineAccess, format: TokenFormat): Generator<Row> {
    this.report.forkedRollouts = 0;
    yield* this.several(file, (rollout) => {
      const records = tokenRecords(rollout, format, this.options.tokenDrift ?? "fork");
      if (records.length > 1) this.report.forkedRollouts = (this.report.forkedRollouts ?? 0) + 1;
      return records;
    });
  }

  /** Converts each rollout into several records. */
  private *several(file: LineAccess, convert: (rollout: ExportedRollout) => Row[]): Generator<Row> {
    for (const rollout of this.rollouts(file)) {
      const records = this.attempt(rollout.candidate.line, () => convert(rollout));
      if (records === undefined) continue;
      this.report.written += records.length - 1;
      yield* records;
    }
  }

  private attempt<Result>(line: number, convert: () => Result): Result | undefined {
    try {
      const result = convert();
      this.report.written++;
      return result;
    } catch (error) {
      this.reject(line, errorMessage(error));
      return undefined;
    }
  }

  private *pairs(file: LineAccess): Generator<Row> {
    for (const task of this.selection.selected()) {
      const pairs = pairsOf(task, this.filters);
      if (pairs.length === 0) this.report.tasksWithoutPair++;
      for (const [chosen, rejected] of pairs) {
        const record = this.attempt(chosen.line, () =>
          dpoRecord(this.load(file, task, chosen), this.load(file, task, rejected), this.options),
        );
        if (record !== undefined) yield record;
      }
    }
  }

  private *taskRecords(
    file: LineAccess,
    inputs: TaskRows,
    toRecord: (input: Row, task: SelectedTask) => Row,
  ): Generator<Row> {
    try {
      for (const task of this.selection.selected()) {
        const first = task.rollouts[0];
        if (first === undefined) continue;
        const rollout = loads(file.lineAt(first.offset)) as Row;
        const input = inputs.rowOf(task.taskIndex, rollout);
        const record = this.attempt(first.line, () => toRecord(input, task));
        if (record !== undefined) yield record;
      }
    } finally {
      inputs.close();
    }
  }

  private cells(file: LineAccess) {
    return this.each(file, (rollout) => this.columns.cells(rollout));
  }

  private *csv(file: LineAccess): Generator<string> {
    const columns = this.columns.list();
    yield csvLine(columns.map(({ name }) => name));
    for (const cells of this.cells(file)) yield csvLine(cells, columns);
  }

  private *jsonLines(records: Iterable<Row>): Generator<string> {
    for (const record of records) yield `${dumpsCompact(record)}\n`;
  }
}
