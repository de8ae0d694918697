import { createTestServer } from "../../../../src/testing/index.ts";
import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { definitionOf, type Environment } from "../environment-server.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "../rows.ts";
import { replyTo } from "../scripted-servers.ts";

const MODELS = ["user", "tool", "judge"] as const;
/** Members that the original does not have, or that the rows omit. */
const OMITTED =
  /^(responses_create_params|response|judge_diagnostics|_ng_.*|mask_sample|failure_kind|failure_reason)$/;

async function runRow(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const { model_servers: hasModels, ...given } = row.config ?? {};
  const scripts = isObject(row["scripts"]) ? row["scripts"] : {};
  const calls: string[] = [];
  const model = (name: string) => {
    const script = Array.isArray(scripts[name]) ? scripts[name] : [];
    let next = 0;
    return (path: string) => {
      calls.push(name);
      return replyTo(path, script[next++]);
    };
  };
  const reference = (name: string) => ({ type: "responses_api_models", name });
  const server = await createTestServer(definitionOf(environment, row), {
    config: {
      ...given,
      ...(hasModels === true && {
        user_model_server: reference("user"),
        tool_simulator_model_server: reference("tool"),
        judge_model_server: reference("judge"),
      }),
    },
    directory: environment.directory,
    servers: Object.fromEntries(MODELS.map((name) => [name, model(name)])),
  });
  try {
    const jar = server.newJar();
    const results = rowsOf(row.expected["results"]);
    for (const [index, step] of rowsOf(row["steps"]).entries()) {
      const wanted = results[index] ?? {};
      const reply = await server.post(`/${String(step["op"])}`, step["body"], jar);
      const at = `step ${index} (${String(step["op"])})`;
      if (reply.status !== wanted["status"]) return `${at}: status ${reply.status} ${show(reply.body)}`;
      if (wanted["body"] === null) continue;
      const found = difference(comparable(reply.body), wanted["body"], at, { relative: 1e-12 });
      if (found !== undefined) return found;
    }
    return difference(calls, row.expected["model_calls"], "model_calls");
  } finally {
    await server.close();
  }
}

function comparable(body: unknown): unknown {
  if (!isObject(body)) return body;
  const kept: JsonObject = Object.fromEntries(Object.entries(body).filter(([key]) => !OMITTED.test(key)));
  const trajectory = isObject(kept["result"]) ? kept["result"]["trajectory"] : undefined;
  if (!isObject(trajectory)) return kept;
  // The rows leave out what was said.
  const messages = rowsOf(trajectory["messages"]).map(({ content: _, ...message }) => message);
  return { ...kept, result: { trajectory: { ...trajectory, messages } } };
}

export const adapter: Adapter = { caseOf: (row, environment) => () => runRow(row, environment) };
