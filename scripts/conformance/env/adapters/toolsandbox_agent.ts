import { createTestServer } from "../../../../src/testing/index.ts";
import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { loadAgent } from "../agent-case.ts";
import { difference } from "../compare.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "../rows.ts";

function brief(item: JsonObject): unknown[] {
  const { type, role, content, call_id, output } = item;
  if (type === "function_call") return ["call", call_id];
  if (type === "function_call_output") return ["output", call_id, output];
  return [role, Array.isArray(content) ? content.map((part) => String(part.text)).join("") : content];
}

const failed = { status: 500, body: { error: { message: "scripted" } } };
const scripted = (reply: unknown) => (isObject(reply) && reply["http_error"] !== undefined ? failed : reply);

/** A scripted model, user and server. A model call that fails ends the rollout here; the original scores what was said before. */
async function runScenario(row: FixtureRow): Promise<string | undefined> {
  const outputs = [...rowsOf(row["model_outputs"])];
  const steps = [...rowsOf(row["step_replies"])];
  const failsAt = outputs.findIndex((output) => output["output"] === undefined);
  const calls: JsonObject[] = [];
  const server = await createTestServer(await loadAgent("toolsandbox_agent"), {
    config: {
      resources_server: { type: "resources_servers", name: "environment" },
      model_server: { type: "responses_api_models", name: "model" },
      ...row.config,
    },
    servers: {
      model: (_, body) => {
        const output = outputs.shift();
        calls.push({ model_input: rowsOf((body as JsonObject)["input"]).map(brief) });
        return scripted(output) as object;
      },
      environment: (url, body) => {
        const path = url.replace(/^.*\//, "");
        const { env_id, function_calls, text, task_idx } = body as JsonObject;
        if (path === "seed_session") {
          calls.push({ seed_session: { task_idx } });
          return row["seed_reply"] as object;
        }
        if (path === "step") {
          const ids = rowsOf(function_calls).map(({ call_id }) => call_id);
          calls.push({ step: { env_id, calls: ids, text } });
          return scripted(steps.shift()) as object;
        }
        if (path === "close") calls.push({ close: { env_id } });
        return path === "verify" ? { ...(body as JsonObject), reward: 0 } : { success: true };
      },
    },
  });
  try {
    const { status, body } = await server.post("/run", row["request"]);
    const { calls: expectedCalls, raises, ...expected } = row.expected;
    const found = difference(calls, expectedCalls, "calls");
    if (found !== undefined) return found;
    if (raises !== undefined || failsAt >= 0)
      return status >= 400 ? undefined : `expected a failure, got ${show(body)}`;
    if (status !== 200) return `status ${status}: ${show(body)}`;
    const { response } = body as { response: JsonObject };
    const { env_id, group_id, contains_transitions } = response;
    const run = { output: rowsOf(response["output"]).map(brief), env_id, group_id, contains_transitions };
    return difference(run, expected, "run");
  } finally {
    await server.close();
  }
}

export const adapter: Adapter = { caseOf: (row) => () => runScenario(row) };
