import { FAILURE_KINDS } from "../base/failures.ts";
import { agentNameOf, keyOfRow, type Row, readRows } from "../records/files/door.ts";
import { RolloutKeyMap } from "../records/metrics/door.ts";
import { aggregateEntry, type RunTotals } from "./collect/run-totals.ts";

/** Which rollouts without a result count as zero in the metrics. The files of the run do not change. */
export interface ZeroSetting {
  /** Failures of these classes, by our name or the one that `failure_kind` uses. */
  failureClasses: readonly string[];
  /** Rollouts that left no row, neither a result nor a failure. */
  missing: boolean;
}

/** Undefined if no rollouts count as zero. */
export function zeroSetting(options: {
  countFailuresAsZero?: readonly string[];
  countMissingAsZero?: boolean;
}): ZeroSetting | undefined {
  const { countFailuresAsZero: failureClasses = [], countMissingAsZero: missing = false } = options;
  return failureClasses.length > 0 || missing ? { failureClasses, missing } : undefined;
}

/** How many rollouts count as zero although nothing scored them. */
export interface CountedAsZero {
  failed: number;
  missing: number;
}

interface Sources {
  rollouts: readonly string[];
  failures: readonly string[];
  materializedInputs: readonly string[];
  signal?: AbortSignal;
}

const DONE = 0;
const FAILED = 1;

/** Adds the rollouts that count as zero to the totals of a run, which already have its results. */
export async function addZeros(
  totals: RunTotals,
  sources: Sources,
  { failureClasses, missing }: ZeroSetting,
): Promise<CountedAsZero> {
  const { rollouts, failures, materializedInputs, signal } = sources;
  const lenient = { signal, skipBlank: true, onTornLine: () => {} };
  const states = new RolloutKeyMap();
  const fields = new Map<string, Set<string>>();
  for (const path of rollouts)
    for await (const { row } of readRows(path, lenient)) {
      const key = keyOfRow(row);
      if (key) states.set(key.taskIndex, key.rolloutIndex, DONE);
      noteFields(fields, row);
    }
  const wanted = new Set(failureClasses.flatMap((name) => [name, FAILURE_KINDS[name] ?? name]));
  const { runFileExists } = await import("../records/door.ts");
  // The last attempt of a rollout is the one that counts.
  const last = new Map<string, Row>();
  for (const path of failures.filter(runFileExists))
    for await (const { row } of readRows(path, lenient)) {
      const key = keyOfRow(row);
      if (!key || states.get(key.taskIndex, key.rolloutIndex) === DONE) continue;
      states.set(key.taskIndex, key.rolloutIndex, FAILED);
      const name = `${key.taskIndex}-${key.rolloutIndex}`;
      if (wanted.has(String(row["_ng_failure_class"]))) last.set(name, aggregateEntry(row));
      else last.delete(name);
    }
  const counted = { failed: 0, missing: 0 };
  for (const path of materializedInputs.filter(runFileExists))
    for await (const { row: input } of readRows(path, { signal })) {
      const key = keyOfRow(input);
      if (!key) continue;
      const failed = last.get(`${key.taskIndex}-${key.rolloutIndex}`);
      const isMissing = missing && !states.has(key.taskIndex, key.rolloutIndex);
      if (failed === undefined && !isMissing) continue;
      counted[failed === undefined ? "missing" : "failed"]++;
      totals.addZero(zeroOf(input, failed, fields.get(agentNameOf(input) ?? "")));
    }
  return counted;
}

function noteFields(fields: Map<string, Set<string>>, row: Row): void {
  const agent = agentNameOf(row) ?? "";
  const names = fields.get(agent) ?? new Set();
  fields.set(agent, names);
  for (const name of Object.keys(row)) names.add(name);
}

const DIAGNOSTICS = /^(?:_ng_failure|failure_kind$|failure_reason$)/;
const NOT_OF_TASK = /^(?:_|response$|responses_create_params$)/;

/** The row that counts as zero: the failure, if any, with those fields of the task that results of its agent have. */
function zeroOf(input: Row, failed: Row | undefined, known: ReadonlySet<string> = new Set()): Row {
  const ofTask = Object.entries(input).filter(([name]) => known.has(name) && !NOT_OF_TASK.test(name));
  const own = Object.entries(failed ?? {}).filter(
    ([name]) => name === "reward" || (known.has(name) && !DIAGNOSTICS.test(name)),
  );
  const { _ng_task_index, _ng_rollout_index, agent_ref } = input;
  return {
    ...Object.fromEntries(ofTask),
    reward: 0,
    ...Object.fromEntries(own),
    mask_sample: false,
    agent_ref,
    _ng_task_index,
    _ng_rollout_index,
  };
}
