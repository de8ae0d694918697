import type { Jar } from "../../../src/testing/index.ts";
import { show } from "../difference.ts";
import { difference } from "./compare.ts";
import { type Environment, startRowServer } from "./environment-server.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "./rows.ts";
import { responseOf } from "./scripted-servers.ts";
import { crashDifference } from "./verify-case.ts";

const comparison = { relative: 1e-12 };

/** Sends `steps` in order, each with the cookies of its session, and compares every response. */
export async function runStepsCase(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const run = await startRowServer(environment, row);
  try {
    const jars = new Map<unknown, Jar>();
    const results = rowsOf(row.expected["results"]);
    for (const [index, step] of rowsOf(row["steps"]).entries()) {
      const letter = step["session"] ?? "A";
      const jar = jars.get(letter) ?? run.server.newJar();
      jars.set(letter, jar);
      const reply = await run.server.post(`/${String(step["op"])}`, bodyOf(step), jar);
      const found = stepDifference(reply, results[index] ?? {}, String(step["op"]));
      if (found !== undefined) return `step ${index} (${String(step["op"])}): ${found}`;
    }
    return undefined;
  } finally {
    await run.close();
  }
}

/** A verify step may contain only the fields of the row. */
function bodyOf(step: JsonObject): unknown {
  if (step["body"] !== undefined || step["op"] !== "verify") return step["body"];
  const { op: _, session: __, ...fields } = step;
  return { responses_create_params: { input: [] }, response: responseOf([]), ...fields };
}

function stepDifference(
  reply: { status: number; body: unknown },
  expected: JsonObject,
  operation: string,
): string | undefined {
  if (expected["status"] === 500) {
    if (operation === "verify") return crashDifference(reply);
    const noReward = isObject(reply.body) && (reply.body["reward"] ?? 0) === 0;
    return reply.status >= 400 || noReward ? undefined : `expected a refusal, got ${show(reply.body)}`;
  }
  if (reply.status !== expected["status"]) {
    return `status: expected ${show(expected["status"])}, got ${reply.status} ${show(reply.body)}`;
  }
  if (expected["status"] !== 200) return undefined;
  const { status: _, body, ...fields } = expected;
  if (body === undefined) return difference(reply.body, fields, "body", { ...comparison, subset: true });
  return difference(withoutExchange(reply.body, body), body, "body", comparison);
}

/** Since 0.7 every verdict has these members. Rows of earlier versions do not. */
const NEW_MEMBERS = ["mask_sample", "failure_kind", "failure_reason"];

function withoutExchange(body: unknown, expected: unknown): unknown {
  if (!isObject(body)) return body;
  const { responses_create_params: _, response: __, ...rest } = body;
  const isNew = (key: string) =>
    NEW_MEMBERS.includes(key) && !rest[key] && isObject(expected) && !(key in expected);
  return Object.fromEntries(Object.entries(rest).filter(([key]) => !isNew(key)));
}
