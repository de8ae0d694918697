import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { type Environment, startRowServer } from "../environment-server.ts";
import { judgeCallsDifference } from "../judge-calls.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "../rows.ts";
import type { RecordedCall } from "../scripted-servers.ts";

/** Requests follow each other at this distance, so that they arrive in order. */
const DISTANCE_MS = 50;
/** A request without an answer after this time waits for its cohort. */
const PENDING_MS = 600;

const metadataOf = ({ body }: RecordedCall) => (isObject(body["metadata"]) ? body["metadata"] : {});

export const adapter: Adapter = {
  config: () => ({ genrm_model_server: { type: "responses_api_models", name: "genrm" } }),
  judgeKey: (call) => `${metadataOf(call)["response_1"]}|${metadataOf(call)["response_2"]}`,
  caseOf(row, environment) {
    if (row["kind"] === "compare") return () => runCompare(row, environment);
    if (row["kind"] === "verify_cohort") return () => runCohort(row, environment);
    return undefined;
  },
};

async function runCompare(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const { status, judge_calls, ...expected } = row.expected;
  // Ours rejects an invalid config before it starts.
  const started = startRowServer(environment, row);
  if (status === 500)
    return started.then(
      () => "expected a refusal",
      () => undefined,
    );
  const run = await started;
  try {
    const reply = await run.server.post("/compare", row["request"]);
    if (reply.status !== status)
      return `status: expected ${show(status)}, got ${reply.status} ${show(reply.body)}`;
    const { calls } = run.scripted;
    return (
      (status === 200 ? difference(reply.body, expected, "body", { relative: 1e-12 }) : undefined) ??
      judgeCallsDifference(calls, judge_calls) ??
      difference(
        calls.map(metadataOf),
        Array.isArray(judge_calls)
          ? rowsOf(judge_calls).map(({ metadata }) => metadata)
          : calls.map(metadataOf),
        "metadata",
      )
    );
  } finally {
    await run.close();
  }
}

async function runCohort(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const run = await startRowServer(environment, row);
  const wait = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds));
  try {
    const replies: Promise<{ status: number; body: JsonObject }>[] = [];
    for (const request of rowsOf(row["requests"])) {
      replies.push(run.server.post("/verify", request, run.server.newJar()));
      await wait(DISTANCE_MS);
    }
    const deadline = wait(PENDING_MS);
    const pending = { status: 0, body: {} };
    for (const [index, { status, ...expected }] of rowsOf(row.expected["results"]).entries()) {
      const reply = await Promise.race([replies[index] ?? pending, deadline.then(() => pending)]);
      const found =
        reply.status !== (expected["pending"] ? 0 : status)
          ? `status ${reply.status} ${show(reply.body)}, expected ${show(status ?? "none yet")}`
          : difference(reply.body, reply.status === 200 ? expected : {}, "body", { subset: true });
      if (found !== undefined) return `request ${index}: ${found}`;
    }
    const calls = row.expected["n_judge_calls"];
    return calls === undefined || calls === run.scripted.calls.length
      ? undefined
      : `expected ${show(calls)} calls, got ${run.scripted.calls.length}`;
  } finally {
    await run.close();
  }
}
