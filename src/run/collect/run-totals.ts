import { isTruthy } from "../../base/python/door.ts";
import { isObject } from "../../base/python/json/door.ts";
import { agentNameOf, type Row } from "../../records/files/door.ts";
import { CoverageCounter, RolloutTable } from "../../records/metrics/door.ts";
import { addJudgeCalls, type JudgeCalls } from "../../wire/light-door.ts";
import { judgeCallsOf } from "./rollout-tally.ts";
import { TurnBoundaryCounter } from "./turn-boundaries.ts";

/** With more rows than this for one agent, its servers are not asked, because the request would not fit in memory. */
const MAX_ROWS_PER_REQUEST = 250_000;
/** An entry takes about 2 kB. A longer run keeps none, so that its memory stays constant; they are read from its file at the end. */
const MAX_ROWS_IN_MEMORY = 5_000;

/** Totals of the rows of a run: everything that its metrics need, without the large fields. */
export class RunTotals {
  readonly coverage: CoverageCounter;
  readonly boundaries = new TurnBoundaryCounter();
  readonly byAgent = new Map<string, AgentRows>();
  /** Who judged the rollouts. */
  readonly judges: JudgeCalls[] = [];

  readonly #keepsEntries: boolean;

  /** `expected`: rollouts of a run that is still going on. If there are many, no entries are kept. */
  constructor(coverage: CoverageCounter = new CoverageCounter(), expected = 0) {
    this.coverage = coverage;
    this.#keepsEntries = expected <= MAX_ROWS_IN_MEMORY;
  }

  /**
   * Whether entries that fit into one request were not kept, because many rollouts were expected. They must be read
   * from the file.
   */
  get lacksEntries(): boolean {
    return [...this.byAgent.values()].some(
      ({ entries, table }) => entries === undefined && table.size <= MAX_ROWS_PER_REQUEST,
    );
  }

  /** Adds a completed rollout that was read from a file. */
  add(row: Row): void {
    this.#add(row, aggregateEntry(row));
  }

  /** Adds a completed rollout that is about to be written. It counts with the values of its JSON line. */
  addUnwritten(row: Row): void {
    this.#add(row, JSON.parse(JSON.stringify(aggregateEntry(row))) as Row);
  }

  /** Adds the entry of a rollout that nothing scored. It enters the metrics, and is not covered. */
  addZero(entry: Row): void {
    this.#rowsOf(entry).add(entry);
  }

  #add(row: Row, entry: Row): void {
    this.coverage.complete(entry);
    this.boundaries.add(row);
    for (const calls of judgeCallsOf(row["_ng_judge"])) addJudgeCalls(this.judges, calls);
    this.#rowsOf(entry).add(entry);
  }

  #rowsOf(entry: Row): AgentRows {
    const agent = agentNameOf(entry) ?? "";
    let rows = this.byAgent.get(agent);
    if (!rows) {
      rows = new AgentRows(this.#keepsEntries);
      this.byAgent.set(agent, rows);
    }
    return rows;
  }
}

/** The data kept of an agent's rows: numbers always, small members while they fit. */
export class AgentRows {
  readonly table = new RolloutTable();
  /** Indices of the rows whose reward does not count. */
  readonly masked = new Set<number>();
  entries: Row[] | undefined;
  /** The environment server of the rows, if they name one. */
  environment: string | undefined;

  constructor(keepsEntries: boolean) {
    this.entries = keepsEntries ? [] : undefined;
  }

  add(entry: Row): void {
    if (isTruthy(entry["mask_sample"])) this.masked.add(this.table.size);
    this.table.add(entry);
    const environment = entry["_ng_environment_server"];
    if (typeof environment === "string") this.environment = environment;
    if (!this.entries) return;
    this.entries.push(entry);
    if (this.entries.length > MAX_ROWS_PER_REQUEST) this.entries = undefined;
  }
}

/** Large members that no metric uses. */
const LEFT_OUT = new Set([
  "response",
  "responses_create_params",
  "ng_agent_observations",
  "ng_model_call_capture",
  "ng_trajectory",
]);

/** A rollout row as sent to `/aggregate_metrics`: without large members, but with the token usage and why a response was cut. */
export function aggregateEntry(row: Row): Row {
  const entry: Row = {};
  for (const [key, value] of Object.entries(row)) if (!LEFT_OUT.has(key)) entry[key] = value;
  const response = row["response"];
  const { usage, incomplete_details } = isObject(response) ? response : {};
  const kept = {
    ...(isObject(usage) && Object.keys(usage).length > 0 && { usage }),
    ...(isObject(incomplete_details) && { incomplete_details }),
  };
  if (Object.keys(kept).length > 0) entry["response"] = kept;
  return entry;
}
