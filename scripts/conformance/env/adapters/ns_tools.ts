import { createTestServer } from "../../../../src/testing/index.ts";
import { show } from "../../difference.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { definitionOf, type Environment } from "../environment-server.ts";
import { type FixtureRow, isObject, type JsonObject, rowsOf } from "../rows.ts";

type Create = (createTools: () => unknown) => unknown;

/** A tool that answers as the arguments say. */
const scriptedTools = (Timeout: new () => Error) => ({
  has: (name: string) => name === "python",
  call: async (_: string, { _scripted: result }: JsonObject) => {
    if (result === "timeout") throw new Timeout();
    if (result === "raise") throw new Error("tool broke");
    return result;
  },
  end: async () => undefined,
  close: async () => undefined,
});

/** Times, and members of 0.7, are not part of the fixtures. */
const OMITTED = new Set(
  "total_tool_execution_time_seconds avg_tool_call_time_seconds mask_sample failure_kind failure_reason".split(
    " ",
  ),
);

async function runRow(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const delegated: string[] = [];
  const verifier = (name: string) => () => {
    delegated.push(name);
    return { status: 200, body: row["verifier_reply"] };
  };
  const reference = (name: string) => ({ type: "resources_servers", name });
  const server = await createTestServer(definitionOf(environment, row), {
    config: { verifiers: { math_with_judge: reference("mwj"), other: reference("oth") } },
    directory: environment.directory,
    servers: { mwj: verifier("mwj"), oth: verifier("oth") },
  });
  try {
    const jar = server.newJar();
    const results = rowsOf(row.expected["results"]);
    for (const [index, step] of rowsOf(row["steps"]).entries()) {
      const wanted = results[index] ?? {};
      const reply = await server.post(`/${String(step["op"])}`, step["body"], jar);
      const at = `step ${index}`;
      // A verifier that answers without a reward is a failure of the run.
      if (wanted["status"] === 500) return reply.status >= 500 ? undefined : `${at}: ${show(reply)}`;
      if (reply.status !== wanted["status"]) return `${at}: status ${reply.status} ${show(reply.body)}`;
      if (wanted["delegated_to"] !== undefined && delegated.at(-1) !== wanted["delegated_to"])
        return `${at}: delegated to ${delegated.at(-1)}`;
      const found =
        wanted["text"] === undefined
          ? difference(resultOf(reply.body), wanted["body"], at)
          : difference(reply.text, wanted["text"], at);
      if (found !== undefined) return found;
    }
    return undefined;
  } finally {
    await server.close();
  }
}

function resultOf(body: unknown): unknown {
  if (!isObject(body)) return body;
  const { responses_create_params: _, response: __, ...rest } = body;
  return Object.fromEntries(Object.entries(rest).filter(([key]) => !OMITTED.has(key)));
}

export const adapter: Adapter = {
  definition: (module) =>
    (module["nsTools"] as Create)(() => scriptedTools(module["ToolTimeout"] as new () => Error)),
  caseOf: (row, environment) => () => runRow(row, environment),
};
