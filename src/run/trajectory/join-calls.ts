import { CallRef, distinctGaps, type Gap, ObservationBundle } from "../../records/trajectory-parts.ts";
import type { CallRecord } from "./call-record.ts";

/**
 * How an invocation refers to a call. `own`: its own, not named before. `share`: its own, possibly named before.
 * `part`: one that it already named as its own. `mention`: without a claim to own it.
 */
type Claim = "own" | "share" | "part" | "mention";

/**
 * Finds the recorded calls that agents refer to. A reference is resolved when exactly one call matches it and no other
 * invocation owns that call. Otherwise the reference stays unchanged and a gap is recorded.
 */
export class CallJoin {
  readonly gaps: Gap[] = [];
  readonly #calls: readonly CallRecord[];
  readonly #byId = new Map<string, CallRecord[]>();
  readonly #byResponse = new Map<string, CallRecord[]>();
  readonly #owners = new Map<CallRecord, string | null>();

  constructor(calls: readonly CallRecord[]) {
    this.#calls = calls;
    for (const call of calls) {
      add(this.#byId, call.model_call_id, call);
      if (call.response_id !== null && call.model_ref)
        add(this.#byResponse, responseKey(call.model_ref, call.response_id), call);
    }
  }

  /** `where` is prepended to the detail of a gap. */
  resolve(refs: readonly CallRef[], invocationId: string | null, claim: Claim, where = ""): CallRef[] {
    return refs.map((ref) => {
      const call = this.#find(ref, invocationId, where);
      if (!call) return ref;
      const problem = this.#reject(call, invocationId, claim);
      if (problem) {
        this.#gap(problem, invocationId, `${where}${call.model_call_id}`);
        return ref;
      }
      if (claim === "own" || claim === "share") this.#owners.set(call, invocationId);
      return nameOf(call);
    });
  }

  /** Records calls that no agent reported: those of judges, and of agents that report nothing. */
  noteUnowned(): void {
    for (const call of this.#calls) {
      if (this.#owners.has(call)) continue;
      const detail = `capture:${call.model_call_id}:call_index=${call.call_index}`;
      this.gaps.push({ code: "model_call_ownership_unavailable", detail });
    }
  }

  #reject(call: CallRecord, invocationId: string | null, claim: Claim): string | undefined {
    const owner = this.#owners.get(call);
    if (owner === undefined) return claim === "part" ? "model_call_ownership_unavailable" : undefined;
    return claim === "own" || owner !== invocationId ? "model_call_reference_conflict" : undefined;
  }

  #find(ref: CallRef, invocationId: string | null, where: string): CallRecord | undefined {
    const found = this.#candidates(ref);
    if (found.length === 1) return found[0];
    const code = found.length > 1 ? "model_call_reference_ambiguous" : "model_call_reference_unmatched";
    this.#gap(code, invocationId, `${where}${ref.model_call_id || ref.response_id}`);
    return undefined;
  }

  #candidates({ model_call_id, model_ref, response_id }: CallRef): CallRecord[] {
    if (!model_call_id) {
      return model_ref && response_id
        ? (this.#byResponse.get(responseKey(model_ref, response_id)) ?? [])
        : [];
    }
    return (this.#byId.get(model_call_id) ?? []).filter(
      (call) =>
        (!response_id || call.response_id === response_id) &&
        (!model_ref || (call.model_ref.name === model_ref.name && call.model_ref.type === model_ref.type)),
    );
  }

  #gap(code: string, invocationId: string | null, detail: string): void {
    this.gaps.push({ code, invocation_id: invocationId ?? undefined, detail });
  }
}

const responseKey = ({ type, name }: { type: string; name: string }, responseId: string): string =>
  JSON.stringify([type, name, responseId]);

const nameOf = ({ model_call_id, model_ref, response_id }: CallRecord): CallRef => ({
  model_call_id,
  model_ref,
  response_id,
});

function add(index: Map<string, CallRecord[]>, key: string, call: CallRecord): void {
  const known = index.get(key);
  if (known) known.push(call);
  else index.set(key, [call]);
}

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
