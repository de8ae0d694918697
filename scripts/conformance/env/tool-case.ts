import { show } from "../difference.ts";
import { difference } from "./compare.ts";
import { type Environment, startRowServer } from "./environment-server.ts";
import { type FixtureRow, type JsonObject, rowsOf } from "./rows.ts";

/** A single call of a tool: `name`, `arguments`, `expected {status, body}`. */
export async function runToolCase(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const run = await startRowServer(environment, row);
  try {
    const reply = await run.server.post(`/${String(row["name"])}`, row["arguments"]);
    return replyDifference(reply, row.expected);
  } finally {
    await run.close();
  }
}

/** Consecutive calls in one session, after `/seed_session` unless the row says otherwise. */
export async function runToolSequence(
  row: FixtureRow,
  environment: Environment,
): Promise<string | undefined> {
  const run = await startRowServer(environment, row);
  try {
    const jar = run.server.newJar();
    if (row["seed_session"] !== false) {
      const seeded = await run.server.post("/seed_session", row["seed_body"] ?? {}, jar);
      if (seeded.status !== 200) return `seed_session answered ${seeded.status} ${show(seeded.body)}`;
    }
    const results = rowsOf(row.expected["results"]);
    for (const [index, call] of rowsOf(row["calls"]).entries()) {
      const reply = await run.server.post(`/${String(call["name"])}`, call["arguments"], jar);
      const found = replyDifference(reply, results[index] ?? {});
      if (found !== undefined) return `call ${index} (${String(call["name"])}): ${found}`;
    }
    return undefined;
  } finally {
    await run.close();
  }
}

/** Compares a tool's response. With a null body only the status counts, and where the original crashed any error status is accepted. */
export function replyDifference(
  reply: { status: number; body: unknown },
  expected: JsonObject,
): string | undefined {
  const { status, body } = expected;
  if (status === 500) {
    return reply.status >= 400 ? undefined : `expected a refusal, got ${reply.status} ${show(reply.body)}`;
  }
  if (reply.status !== status)
    return `status: expected ${show(status)}, got ${reply.status} ${show(reply.body)}`;
  if (body === null || body === undefined) return undefined;
  return difference(reply.body, body, "body");
}
