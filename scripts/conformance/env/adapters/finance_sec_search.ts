import { readFileSync } from "node:fs";
import path from "node:path";
import { createTestServer, type Jar } from "../../../../src/testing/index.ts";
import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { definitionOf, type Environment } from "../environment-server.ts";
import { judgeCallsDifference } from "../judge-calls.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "../rows.ts";
import { ScriptedServers } from "../scripted-servers.ts";
import { crashDifference } from "../verify-case.ts";

/** The text of the fixture's exception follows. */
const FAILED = "ERROR: Retrieval LLM call failed: ";
const OMITTED =
  /^(responses_create_params|response|instance_config|_ng_judge|mask_sample|failure_kind|failure_reason)$/;

async function runRow(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const pages = JSON.parse(
    readFileSync(path.join(environment.fixtures, String(row["web"])), "utf8"),
  ) as JsonObject;
  const text = (url: string) => {
    const page = Object.hasOwn(pages, url) ? pages[url] : undefined;
    return page === undefined || typeof page === "string" ? page : JSON.stringify(page);
  };
  const web = () => ({ text: async (url: string) => text(url), close: async () => undefined });
  const create = environment.module["financeSecSearch"] as (openWeb: () => unknown) => unknown;
  const scripted = {
    judge: new ScriptedServers(row["judge_outputs"]),
    retr: new ScriptedServers(row["retrieval_outputs"]),
  };
  const server = await createTestServer(
    definitionOf({ ...environment, module: { default: create(web) } }, row),
    {
      config: { judge_retry_delay_factor: 0, first_verdict_counts: true, ...row.config },
      directory: environment.directory,
      servers: { judge: scripted.judge.handler("judge"), retr: scripted.retr.handler("retr") },
    },
  );
  try {
    const jars = new Map<unknown, Jar>();
    const results = rowsOf(row.expected["results"]);
    for (const [index, step] of rowsOf(row["steps"]).entries()) {
      const wanted = results[index] ?? {};
      const letter = step["session"] ?? "A";
      const jar = jars.get(letter) ?? server.newJar();
      jars.set(letter, jar);
      const reply = await server.post(`/${String(step["op"])}`, step["body"], jar);
      const at = `step ${index} (${String(step["op"])})`;
      if (wanted["status"] === 500) {
        const found = crashDifference(reply);
        if (found !== undefined) return `${at}: ${found}`;
        continue;
      }
      if (reply.status !== wanted["status"]) return `${at}: status ${reply.status} ${show(reply.body)}`;
      if (wanted["body"] === null) continue;
      const found = difference(comparable(reply.body), comparable(wanted["body"]), at);
      if (found !== undefined) return found;
    }
    return (
      judgeCallsDifference(scripted.judge.calls, row.expected["judge_calls"]) ??
      judgeCallsDifference(scripted.retr.calls, row.expected["retrieval_calls"])
    );
  } finally {
    await server.close();
  }
}

function comparable(body: unknown): unknown {
  if (!isObject(body)) return body;
  const kept = Object.fromEntries(Object.entries(body).filter(([key]) => !OMITTED.test(key)));
  const { results } = kept;
  return typeof results === "string" && results.startsWith(FAILED) ? { ...kept, results: FAILED } : kept;
}

export const adapter: Adapter = { caseOf: (row, environment) => () => runRow(row, environment) };
