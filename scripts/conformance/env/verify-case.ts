import { pyEquals } from "../../../src/base/python/truth.ts";
import { show } from "../difference.ts";
import { difference } from "./compare.ts";
import { type Environment, type RowServer, startRowServer } from "./environment-server.ts";
import { judgeCallsDifference } from "./judge-calls.ts";
import { type FixtureRow, isObject, type JsonObject } from "./rows.ts";

const comparison = { relative: 1e-12 };
/** Keys of `expected` that describe the exchange and not the result. */
const describing = new Set(["status", "http_status", "echoed_fields", "judge_calls"]);
/** Texts of exceptions: ours differ on purpose. */
const freeText = new Set(["error_message", "_ng_failure_judge_error"]);
/** Fixtures contain judge evaluations reduced to their small fields. */
const reduced = /judge_evaluation/;
/** Names under which fixtures repeat a value from inside a field. */
const derived: Record<string, (body: JsonObject) => unknown> = {
  verdict_labels: (body) =>
    evaluations(body).map((item) => (isObject(item) ? item["verdict_label"] : undefined)),
  n_judge_evaluations: (body) => evaluations(body).length,
};

function evaluations(body: JsonObject): unknown[] {
  return Array.isArray(body["judge_evaluations"]) ? body["judge_evaluations"] : [];
}

/** Sends `request` to `/verify` and compares status, result fields and the calls to a judge. */
export async function runVerifyCase(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const run = await startRowServer(environment, row);
  try {
    const reply = await run.server.post("/verify", row["request"]);
    const { expected } = row;
    // Some results have a field named `status`; their fixtures use `http_status` for the HTTP status.
    const ownStatus = expected["http_status"] !== undefined;
    const status = ownStatus ? expected["http_status"] : expected["status"];
    if (status === 500) return crashDifference(reply);
    if (reply.status !== status)
      return `status: expected ${show(status)}, got ${reply.status} ${show(reply.body)}`;
    if (status !== 200) return undefined;
    if (!isObject(reply.body)) return `expected a result object, got ${show(reply.body)}`;
    return (
      fieldsDifference(
        environment.adapter.comparable?.(reply.body) ?? reply.body,
        row,
        run,
        environment,
        ownStatus,
      ) ??
      (environment.adapter.judgeCalls ?? judgeCallsDifference)(run.scripted.calls, expected["judge_calls"])
    );
  } finally {
    await run.close();
  }
}

/** The original crashes here. Ours must respond with a reward of 0 (the model's fault) or reject the row with 422 (the row's fault). */
export function crashDifference(reply: { status: number; body: unknown }): string | undefined {
  if (reply.status === 422) return undefined;
  if (reply.status === 200 && isObject(reply.body) && reply.body["reward"] === 0) return undefined;
  return `expected reward 0 or a 422, got ${reply.status} ${show(reply.body)}`;
}

function fieldsDifference(
  body: JsonObject,
  row: FixtureRow,
  run: RowServer,
  environment: Environment,
  ownStatus: boolean,
): string | undefined {
  const { expected } = row;
  const { adapter } = environment;
  const observers = { ...derived, ...adapter.observe };
  const echoed = Array.isArray(expected["echoed_fields"]) ? expected["echoed_fields"].map(String) : undefined;
  const known = new Set([
    "responses_create_params",
    "response",
    ...(echoed ?? []),
    ...(adapter.unlisted ?? []),
  ]);
  if (expected["_ng_failure_class"] !== undefined) for (const key of MASK_KEYS) known.add(key);
  for (const key of Object.keys(expected)) {
    if (describing.has(key) && !(ownStatus && key === "status")) continue;
    known.add(key);
    const observe = Object.hasOwn(body, key) ? undefined : observers[key];
    const actual = observe ? observe(body, run) : body[key];
    if (adapter.ignore?.includes(key)) continue;
    // Ours has these members only in failed rollouts.
    if (MASK_KEYS.has(key) && !expected[key] && actual === undefined) continue;
    if (freeText.has(key)) {
      if (expected[key] !== null && typeof actual !== "string")
        return `${key}: expected a text, got ${show(actual)}`;
      continue;
    }
    const cut = (value: unknown) =>
      adapter.firstWord?.includes(key) && typeof value === "string" ? value.split(" ")[0] : value;
    const [given, wanted] = [actual, expected[key]].map((value) => withoutErrorText(key, cut(value)));
    const found = difference(given, wanted, key, {
      ...comparison,
      subset: reduced.test(key) || adapter.reduced?.includes(key) === true,
    });
    if (found !== undefined) return found;
  }
  if (echoed === undefined) return undefined;
  for (const key of echoed) {
    // The fixtures list the fields that Python finds equal, such as 1 for true.
    if (pyEquals(body[key], requestField(row, key))) continue;
    const found = difference(body[key], requestField(row, key), key, comparison);
    if (found !== undefined) return found;
  }
  const failed = body["_ng_failure_class"] !== undefined;
  const extra = Object.keys(body).find(
    (key) =>
      !known.has(key) &&
      !OWN_KEYS.has(key) &&
      body[key] !== undefined &&
      !(MASK_KEYS.has(key) && (failed || !body[key])),
  );
  return extra === undefined ? undefined : `${extra} was not expected in the result: ${show(body[extra])}`;
}

/** Counts for the summary of a run, which the original does not have (docs/compatibility.md). */
const OWN_KEYS = new Set(["_ng_judge"]);
/** Members of a reply without a verdict, which some rows leave out; since 0.7 every reply has them. */
const MASK_KEYS = new Set(["mask_sample", "instance_config", "failure_kind", "failure_reason"]);

/** `error` and `error_message` of `metadata` are texts of Python exceptions. */
function withoutErrorText(key: string, value: unknown): unknown {
  if (key !== "metadata" || !isObject(value)) return value;
  const { error: _, error_message: __, ...rest } = value;
  return rest;
}

function requestField(row: FixtureRow, key: string): unknown {
  return isObject(row["request"]) ? row["request"][key] : undefined;
}
