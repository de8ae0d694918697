import { createTestServer } from "../../../../src/testing/index.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import type { Environment } from "../environment-server.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "../rows.ts";

/** Runs the loop with a scripted model and scripted tools, and compares the order of its calls. */
async function runLoop(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const [outputs, tools] = [row["model_outputs"], row["tool_replies"]].map((list) =>
    Array.isArray(list) ? [...list] : [],
  );
  const calls: JsonObject[] = [];
  const definition = environment.module["default"] as Parameters<typeof createTestServer>[0];
  const server = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "environment" },
      model_server: { type: "responses_api_models", name: "model" },
      ...row.config,
    },
    directory: environment.directory,
    servers: {
      model(_path, body) {
        calls.push({ model_input: rowsOf(isObject(body) ? body["input"] : []).map(short) });
        return outputs?.shift();
      },
      environment(tool, body) {
        calls.push({ tool, body });
        return tools?.shift();
      },
    },
  });
  try {
    const { body } = await server.post("/v1/responses", row["request"]);
    const { reset_count, num_tool_calls, pre_reset_warning_steps } = body;
    const actual = {
      output: rowsOf(body["output"]).map(short),
      usage_total: isObject(body["usage"]) ? body["usage"]["total_tokens"] : null,
      ...{ reset_count, num_tool_calls, pre_reset_warning_steps },
      calls,
    };
    return difference(actual, row.expected, "run");
  } finally {
    await server.close();
  }
}

function short(item: JsonObject): unknown[] {
  const { type, role, content } = item;
  if (type === "reasoning") return ["reasoning"];
  if (type === "function_call") return ["call", item["call_id"]];
  // The original writes JSON with a space after a colon.
  if (type === "function_call_output")
    return ["output", item["call_id"], String(item["output"]).replaceAll('":"', '": "')];
  return [role, Array.isArray(content) ? content.map((part) => String(part.text)).join("") : content];
}

export const adapter: Adapter = { caseOf: (row, environment) => () => runLoop(row, environment) };
