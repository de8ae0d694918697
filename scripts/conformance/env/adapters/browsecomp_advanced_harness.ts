import { readFile } from "node:fs/promises";
import { createTestServer, type Jar } from "../../../../src/testing/index.ts";
import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { definitionOf, type Environment } from "../environment-server.ts";
import { installConfig } from "../fixture-config.ts";
import { judgeCallsDifference } from "../judge-calls.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "../rows.ts";
import { ScriptedServers } from "../scripted-servers.ts";
import { crashDifference } from "../verify-case.ts";

/** Members that rows leave out, or that say that a judge did not decide. */
const OMITTED =
  /^(responses_create_params|response|judge_response.*|instance_config|_ng_.*|mask_sample|failure_kind|failure_reason)$/;

/** A provider that answers as the row says, and its calls in the form of the rows. */
function scriptedProvider(row: FixtureRow) {
  const replies = [...rowsOf(row["search_replies"])];
  const calls: JsonObject[] = [];
  const next = () => {
    const reply = replies.shift() ?? {};
    if (reply["error"] !== undefined) throw new Error(String(reply["error"]));
    return rowsOf(reply["results"]);
  };
  const provider = {
    search: async (search: string, options: { maxResults: number; excludeDomains: readonly string[] }) => {
      const fixed = { search_depth: "advanced", include_raw_content: true };
      calls.push({
        search,
        max_results: options.maxResults,
        exclude_domains: options.excludeDomains,
        ...fixed,
      });
      return next().map((result) => ({ ...result, content: result["raw_content"] || result["content"] }));
    },
    extract: async (extract: readonly string[]) => {
      calls.push({ extract });
      return next().map((page) => ({ ...page, content: page["raw_content"] }));
    },
  };
  return { provider, calls };
}

async function runRow(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const { provider, calls } = scriptedProvider(row);
  const create = environment.module["browsecompHarness"] as (createProvider: () => unknown) => unknown;
  const module = { default: create(() => provider) };
  const installed = await installConfig({
    tavily_api_key: "unused",
    judge_retry_delay_factor: 0,
    ...row.config,
  });
  const judge = new ScriptedServers(row["judge_outputs"]);
  const server = await createTestServer(definitionOf({ ...environment, module }, row), {
    config: installed.config,
    directory: environment.directory,
    servers: { judge: judge.handler("judge") },
  });
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
        const found = step["op"] === "verify" ? crashDifference(reply) : undefined;
        if (found !== undefined || (step["op"] !== "verify" && reply.status < 400))
          return `${at}: ${found ?? show(reply)}`;
        continue;
      }
      if (reply.status !== wanted["status"]) return `${at}: status ${reply.status} ${show(reply.body)}`;
      if (wanted["body"] === null) continue;
      const found = difference(comparable(reply.body), wanted["body"], at);
      if (found !== undefined) return found;
    }
    return (
      difference(calls, row.expected["search_calls"] ?? calls, "search_calls") ??
      difference(
        judge.calls.length,
        row.expected["judge_call_count"] ?? judge.calls.length,
        "judge_call_count",
      ) ??
      judgeCallsDifference(judge.calls.slice(0, 1), row.expected["judge_calls"])
    );
  } finally {
    await server.close();
    await installed.remove();
  }
}

function comparable(body: unknown): unknown {
  return isObject(body)
    ? Object.fromEntries(Object.entries(body).filter(([key]) => !OMITTED.test(key)))
    : body;
}

async function runUnit(row: FixtureRow): Promise<string | undefined> {
  const folder = "../../../../resources_servers/browsecomp_advanced_harness";
  const { deniedReason, unknownProgram } = (await import(`${folder}/bash-policy.js`)) as Record<
    string,
    (text: string) => unknown
  >;
  const { slugify, slugOfUrl } = (await import(`${folder}/pages.js`)) as Record<
    string,
    (text: string) => unknown
  >;
  const text = String(row["text"] ?? row["keystrokes"]);
  const wanted = row.expected["value"];
  if (row["kind"] === "bash_policy") {
    const found = {
      denied: deniedReason?.(text) !== undefined,
      allowed: unknownProgram?.(text) === undefined,
    };
    return difference(found, wanted, text);
  }
  return difference((row["kind"] === "slugify" ? slugify : slugOfUrl)?.(text), wanted, text);
}

/** Rows of helpers expect a plain value. */
async function readFixtures(file: string): Promise<FixtureRow[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const row = JSON.parse(line) as FixtureRow;
    return row["kind"] === undefined ? row : { ...row, expected: { value: row.expected } };
  });
}

export const adapter: Adapter = {
  rows: readFixtures,
  caseOf: (row, environment) => () => (row["kind"] === undefined ? runRow(row, environment) : runUnit(row)),
};
