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
        const reply: unknown = outputs?.shift();
        if (isObject(reply) && reply["http_error"] !== undefined)
          return { status: 400, body: { error: { message: String(reply["http_error"]) } } };
        return reply;
      },
      environment(path) {
        calls.push({ tool: path });
        const reply: unknown = tools?.shift();
        if (reply === null || reply === undefined) throw new Error("the scripted call fails");
        return reply;
      },
    },
  });
  try {
    const { body } = await server.post("/v1/responses", row["request"]);
    const actual = {
      output: rowsOf(body["output"]).map(short),
      metadata: body["metadata"],
      usage_total: isObject(body["usage"]) ? body["usage"]["total_tokens"] : null,
      calls,
    };
    return difference(actual, JSON.parse(spaced(row.expected)), "run");
  } finally {
    await server.close();
  }
}

/** The original writes the results of tools with spaces. */
const spaced = (expected: JsonObject) =>
  JSON.stringify(expected).replaceAll('\\": ', '\\":').replaceAll('\\", ', '\\",');

function short(item: JsonObject): unknown[] {
  const { type, role, content } = item;
  if (type === "function_call") return ["call", item["name"], item["call_id"]];
  if (type === "function_call_output") return ["output", item["call_id"], spacedText(String(item["output"]))];
  return [role, Array.isArray(content) ? content.map((part) => String(part.text)).join("") : content];
}

const spacedText = (text: string) => text.replaceAll('": ', '":').replaceAll('", ', '",');

export const adapter: Adapter = { caseOf: (row, environment) => () => runLoop(row, environment) };
