import { setTimeout as wait } from "node:timers/promises";
import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { outputTexts, runAgent } from "../agent-case.ts";
import { difference } from "../compare.ts";
import { type Environment, startRowServer } from "../environment-server.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "../rows.ts";

interface Api {
  replies: JsonObject[];
  calls: JsonObject[];
}
let api: Api = { replies: [], calls: [] };

type Create = (api: (url: string) => (body: object, key: string) => Promise<unknown>) => unknown;

/** Sends the requests at the same time, in their order. */
async function runBatches(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const run = await startRowServer(environment, row);
  try {
    const replies = [];
    for (const request of rowsOf(row["requests"])) {
      replies.push(run.server.post("/verify", request));
      await wait(20);
    }
    for (const [index, wanted] of rowsOf(row.expected["results"]).entries()) {
      const reply = await replies[index];
      const { status, echoed_fields: _, ...fields } = wanted;
      if (reply === undefined || reply.status !== status) return `results[${index}]: ${show(reply?.body)}`;
      if (status === 200 && isObject(reply.body)) {
        const found = difference(reply.body, fields, `results[${index}]`, { subset: true });
        if (found !== undefined) return found;
      }
    }
    const status = await run.server.post("/status", {});
    return (
      difference(api.calls, row.expected["api_calls"], "api_calls") ??
      difference(status.body, row.expected["status_after"], "status_after")
    );
  } finally {
    await run.close();
  }
}

/** Two turns of the agent; a text as input ends with an error in the original, and is one message in ours. */
async function runTurns(row: FixtureRow): Promise<string | undefined> {
  const { body, calls } = await runAgent(row, "critpt_agent", { turn2_prompt: row["turn2_prompt"] });
  if (row.expected["raises"] === true) return difference(body["reward"], 0.5, "reward");
  const seen = calls.map(({ server, path, body: sent }) => {
    if (server === "model") return { to: "self", input: simple(sent["input"]) };
    if (path === "seed_session") return { to: path };
    return { to: path, text: outputTexts(sent["response"]).join(""), problem_id: sent["problem_id"] };
  });
  return difference({ reward: body["reward"], calls: seen }, row.expected, "run");
}

const simple = (input: unknown) =>
  rowsOf(input).map(({ role, content }) => ({
    role,
    content: Array.isArray(content) ? content[0]?.text : content,
  }));

export const adapter: Adapter = {
  definition(module, row) {
    api = { replies: rowsOf(row["api_replies"]), calls: [] };
    const { replies, calls } = api;
    return (module["critpt"] as Create)((url) => async (body, key) => {
      calls.push({ method: "POST", url, "x-api-key": key, body });
      return replies[calls.length - 1] ?? { status: 500, body: "no more replies" };
    });
  },
  config: () => ({ api_key: "unused", api_url: "http://unused.example" }),
  caseOf(row, environment) {
    if (row["requests"] !== undefined) return () => runBatches(row, environment);
    if (row["kind"] === "agent_run") return () => runTurns(row);
    return undefined;
  },
};
