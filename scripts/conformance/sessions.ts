import { access } from "node:fs/promises";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { isObject, type JsonObject } from "../../src/base/python/json/json-object.ts";
import { sleep } from "../../src/base/transport/deadline.ts";
import { installRoot } from "../../src/config/paths.ts";
import type { ServerDefinition } from "../../src/servers/definitions/definitions.ts";
import { createTestServer, type Jar } from "../../src/testing/index.ts";
import { difference, show } from "./difference.ts";
import { outputMessage, responseOf } from "./env/scripted-servers.ts";
import { goldenLines } from "./golden-lines.ts";
import type { Suite } from "./suite.ts";

interface Step {
  op?: string;
  body?: unknown;
  session?: string;
  wait_seconds?: number;
}

interface Case {
  id: string;
  server: string;
  config: JsonObject;
  steps: Step[];
  expected: { results: ({ status: number; body: unknown } | null)[] };
}

/** Sessions of agents and resources servers: requests in order, each with the cookies of its jar. */
export const suite: Suite = async (file) =>
  (await goldenLines<Case>(file)).map((golden) => ({ id: golden.id, run: () => runCase(golden) }));

async function runCase({ server: name, config, steps, expected }: Case): Promise<string | undefined> {
  const { directory, definition } = await loadServer(name);
  const server = await createTestServer(definition, {
    directory,
    config: definition.type === "responses_api_agents" ? { ...MODEL, ...config } : config,
    servers: { model: () => responseOf([outputMessage("Hi")]) },
  });
  try {
    const jars = new Map<string, Jar>();
    for (const [index, step] of steps.entries()) {
      if (step.wait_seconds !== undefined) await sleep(step.wait_seconds * 1000);
      const wanted = expected.results[index];
      if (step.op === undefined || !wanted) continue;
      const jar = jars.get(step.session ?? "A") ?? server.newJar();
      jars.set(step.session ?? "A", jar);
      const reply = await server.post(`/${step.op}`, step.body, jar);
      const found = replyDifference(reply, wanted);
      if (found !== undefined) return `step ${index} (${step.op}): ${found}`;
    }
    return undefined;
  } finally {
    await server.close();
  }
}

const MODEL = { model_server: { type: "responses_api_models", name: "model" } };

function replyDifference(
  reply: { status: number; body: unknown },
  expected: { status: number; body: unknown },
): string | undefined {
  // An exception of the original; any refusal is right.
  const isSame = expected.status === 500 ? reply.status >= 400 : reply.status === expected.status;
  if (!isSame) return `expected the status ${expected.status}, got ${reply.status} ${show(reply.body)}`;
  if (expected.body === null) return undefined;
  return difference(reply.body, expected.body, "body", {
    matches: (actual, wanted) => wanted === "<response>" && isObject(actual),
  });
}

async function loadServer(name: string): Promise<{ directory: string; definition: ServerDefinition }> {
  for (const folder of ["responses_api_agents", "resources_servers"]) {
    const file = path.join(installRoot(), `dist/${folder}/${name}/app.js`);
    const exists = await access(file).then(
      () => true,
      () => false,
    );
    if (!exists) continue;
    const module = (await import(pathToFileURL(file).href)) as { default: ServerDefinition };
    return { directory: path.join(installRoot(), folder, name), definition: module.default };
  }
  throw new Error(`There is no built server '${name}'.`);
}
