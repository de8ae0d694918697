import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { runAgent } from "../agent-case.ts";
import { difference } from "../compare.ts";
import { type Environment, startRowServer } from "../environment-server.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "../rows.ts";

let scraped: string[] = [];

async function runScrapes(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const run = await startRowServer(environment, row);
  try {
    const results = rowsOf(row.expected["results"]);
    for (const [index, request] of rowsOf(row["requests"]).entries()) {
      const { status, body } = await run.server.post("/verify", request);
      const { status: wanted, ...fields } = results[index] ?? {};
      if (status !== wanted) return `results[${index}]: ${status} ${show(body)}`;
      const found = difference(body, fields, `results[${index}]`, { subset: true, relative: 1e-12 });
      if (found !== undefined) return found;
    }
    return difference(scraped, row.expected["scraped_urls"], "scraped_urls");
  } finally {
    await run.close();
  }
}

async function runTurns(row: FixtureRow): Promise<string | undefined> {
  const { body, calls } = await runAgent(row, "speed_bench_agent", {}, "/v1/responses");
  const actual = {
    output: rowsOf(body["output"]).map((item) => (item["type"] === "reasoning" ? ["reasoning"] : said(item))),
    usage_total: isObject(body["usage"]) ? body["usage"]["total_tokens"] : null,
    model_inputs: calls.map(({ body: sent }) =>
      typeof sent["input"] === "string" ? [["user", sent["input"]]] : rowsOf(sent["input"]).map(said),
    ),
  };
  return difference(actual, row.expected, "run");
}

function said({ role, content }: JsonObject): unknown[] {
  return [role, Array.isArray(content) ? content.map((part) => String(part.text)).join("") : content];
}

export const adapter: Adapter = {
  definition(module, row) {
    const replies = Array.isArray(row["scrapes"]) ? [...row["scrapes"]] : [];
    scraped = [];
    return (module["speedBench"] as (scrape: (url: string) => Promise<unknown>) => unknown)(async (url) => {
      scraped.push(url);
      const reply = replies.shift();
      return typeof reply === "string" ? reply : undefined;
    });
  },
  caseOf(row, environment) {
    if (row["requests"] !== undefined) return () => runScrapes(row, environment);
    return row["kind"] === "agent_responses" ? () => runTurns(row) : undefined;
  },
};
