import path from "node:path";
import { pathToFileURL } from "node:url";
import { installRoot } from "../../../src/config/paths.ts";
import type { AgentDefinition } from "../../../src/servers/definitions/door.ts";
import { createTestServer } from "../../../src/testing/index.ts";
import { type FixtureRow, isObject, type JsonObject } from "./rows.ts";
import { outputMessage, type RecordedCall, responseOf } from "./scripted-servers.ts";

export interface AgentRun {
  status: number;
  body: JsonObject;
  /** Calls of the agent to the model (`model`) and to the environment (`environment`), in order. */
  calls: RecordedCall[];
}

const REWARD = 0.5;

/**
 * Runs `request` with an agent, a model that answers with `model_outputs` in order, and an environment that rewards everything
 * with 0.5 unless the row has `verify_replies`.
 */
export async function runAgent(
  row: FixtureRow,
  name: string,
  config: JsonObject,
  route = "/run",
): Promise<AgentRun> {
  const directory = path.join(installRoot(), "responses_api_agents", name);
  const definition = await loadAgent(name);
  const calls: RecordedCall[] = [];
  const outputs = Array.isArray(row["model_outputs"]) ? [...row["model_outputs"]] : [];
  const verdicts = Array.isArray(row["verify_replies"]) ? [...row["verify_replies"]] : [];
  const record = (server: string, url: string, body: unknown) =>
    calls.push({ server, path: url.replace(/^.*\//, ""), body: isObject(body) ? structuredClone(body) : {} });
  const server = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "environment" },
      model_server: { type: "responses_api_models", name: "model" },
      ...config,
    },
    directory,
    servers: {
      model: (url, body) => {
        record("model", url, body);
        return modelReply(outputs.shift());
      },
      environment: (url, body) => {
        record("environment", url, body);
        if (!url.endsWith("/verify")) return {};
        const verdict = verdicts.shift();
        return { ...(body as JsonObject), reward: REWARD, ...(isObject(verdict) && verdict) };
      },
    },
  });
  try {
    const reply = await server.post(route, row["request"]);
    return { status: reply.status, body: isObject(reply.body) ? reply.body : {}, calls };
  } finally {
    await server.close();
  }
}

/** The built definition of an agent. */
export async function loadAgent(name: string): Promise<AgentDefinition> {
  const file = path.join(installRoot(), "dist/responses_api_agents", name, "app.js");
  return ((await import(pathToFileURL(file).href)) as { default: AgentDefinition }).default;
}

function modelReply(output: unknown): object {
  if (output === undefined || output === null) return { status: 500, body: "no more replies" };
  if (isObject(output)) return typeof output["error"] === "string" ? failed(output["error"]) : output;
  return responseOf(typeof output === "string" ? [outputMessage(output)] : output);
}

const failed = (message: string) => ({ status: 400, body: { error: { message } } });

/** The texts of the output items of a response. */
export function outputTexts(response: unknown): string[] {
  const output = isObject(response) && Array.isArray(response["output"]) ? response["output"] : [];
  return output.flatMap((item) =>
    (Array.isArray(item?.content) ? item.content : []).map((part: JsonObject) => String(part["text"] ?? "")),
  );
}
