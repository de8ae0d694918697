import type { CallRecord } from "./call-record.ts";
import { CallJoin } from "./join-calls.ts";
import { CallRef, distinctGaps, type Gap, ObservationBundle } from "./trajectory-parts.ts";

/** Observations as received (`ng_agent_observations`); malformed ones are a gap. */
export function readObservations(value: unknown): { bundle: ObservationBundle | undefined; gaps: Gap[] } {
  if (value === undefined || value === null) return { bundle: undefined, gaps: [] };
  const parsed = ObservationBundle.safeParse(value);
  if (parsed.success) return { bundle: parsed.data, gaps: [] };
  const [issue] = parsed.error.issues;
  const detail = `${issue?.path.join(".")}: ${issue?.message}`;
  return { bundle: undefined, gaps: [{ code: "agent_observations_invalid", detail }] };
}

/** The observations with their references to model calls resolved where possible. */
export function joinObservations(bundle: ObservationBundle, calls: readonly CallRecord[]): ObservationBundle {
  const join = new CallJoin(calls);
  const invocations = bundle.records.map((record) => {
    if (record.kind !== "agent_invocation") return record;
    return { ...record, model_calls: join.resolve(refsIn(record["model_calls"]), idOf(record), "own") };
  });
  const records = invocations.map((record) =>
    record.kind === "context_compaction" ? joinCompaction(record, join) : record,
  );
  join.noteUnowned();
  const earlier = bundle.gaps.filter((gap) => !isOfJoin(gap));
  return { ...bundle, records, gaps: distinctGaps([...earlier, ...join.gaps]) };
}

/** Whether a gap comes from an earlier join. The next join finds it again if it still exists. */
function isOfJoin({ code, invocation_id, detail }: Gap): boolean {
  return (
    /^model_call_reference_(?:ambiguous|conflict|unmatched)$/.test(code) ||
    (code === "model_call_ownership_unavailable" &&
      invocation_id === undefined &&
      detail?.startsWith("capture:") === true)
  );
}

type ObservedRecord = ObservationBundle["records"][number];

/** A compaction happens between two calls and may make calls itself, all in the same invocation. */
function joinCompaction(record: ObservedRecord, join: CallJoin): ObservedRecord {
  const owner = idOf(record);
  const joined: ObservedRecord = {
    ...record,
    model_calls: join.resolve(refsIn(record["model_calls"]), owner, "part", "model_calls:"),
  };
  for (const name of ["before_model_call", "after_model_call"]) {
    const [ref] = refsIn([record[name]]);
    if (ref) joined[name] = join.resolve([ref], owner, "mention", `${name}:`)[0];
  }
  return joined;
}

const idOf = ({ invocation_id: id }: ObservedRecord): string | null => (typeof id === "string" ? id : null);

function refsIn(value: unknown): CallRef[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item) => {
    const parsed = CallRef.safeParse(item);
    return parsed.success ? [parsed.data] : [];
  });
}
