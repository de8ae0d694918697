import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { MockModelEndpoint } from "../src/testing/index.ts";
import { project, repository } from "./gym-process.ts";

const run = promisify(execFile);
const MAX_OUTPUT = 64 * 1024 * 1024;

/** A directory with a folder for each version, as `.ci/run` installs them. Without it the tests are skipped. */
const directory = process.env["NEMO_GYM_TEST_NODES"];
const versions = ["20", "22", "24", "26"];

const ENVIRONMENT = `
import { defineResourcesServer } from "nemo-gym";
import { z } from "zod";
export default defineResourcesServer({
  row: z.object({ answer: z.string() }),
  verify: ({ row, response }) => ({ reward: JSON.stringify(response.output).includes(row.answer) ? 1 : 0 }),
});
`;

const config = (endpoint: MockModelEndpoint) => `
policy_model:
  responses_api_models:
    openai_model: {entrypoint: app.ts, openai_base_url: ${endpoint.baseUrl}, openai_api_key: k, openai_model: m}
capitals:
  resources_servers:
    capitals: {entrypoint: app.ts, hosting: process}
capitals_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: capitals}
      model_server: {type: responses_api_models, name: policy_model}
`;

describe.skipIf(directory === undefined).each(versions)("Node %s", (version) => {
  const node = path.join(directory ?? "", version, "bin/node");
  const start = (args: readonly string[], cwd: string) =>
    run(node, args, { cwd, maxBuffer: MAX_OUTPUT, env: { PATH: process.env["PATH"], HOME: cwd } });

  it("is what it is called", async () => {
    expect((await start(["--version"], repository)).stdout).toMatch(new RegExp(`^v${version}\\.`));
  });

  it("scores a run, in one process and in two", async () => {
    const endpoint = await new MockModelEndpoint({
      answer: ({ body }) => ({ text: JSON.stringify(body["input"]).includes("France") ? "Paris" : "Rome" }),
    }).start();
    try {
      const rows = ["France", "Spain"].map((country) => ({
        answer: country === "France" ? "Paris" : "Madrid",
        responses_create_params: { input: [{ role: "user", content: `The capital of ${country}?` }] },
      }));
      const cwd = await project({
        "resources_servers/capitals/app.ts": ENVIRONMENT,
        "config.yaml": config(endpoint),
        "in.jsonl": rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
      });
      const gym = path.join(repository, "bin/gym.js");
      // Node takes --env-file for its own, wherever it stands.
      const args = ["eval", "run", "--env-yaml", "none", "--config", "config.yaml", "-i", "in.jsonl"];
      await start([gym, ...args, "-o", "out/run.jsonl"], cwd);
      const lines = (await readFile(path.join(cwd, "out/run.jsonl"), "utf8")).trim().split("\n");
      const results = lines.map((line) => JSON.parse(line) as { answer: string; reward: number });
      expect(Object.fromEntries(results.map(({ answer, reward }) => [answer, reward]))).toEqual({
        Paris: 1,
        Madrid: 0,
      });
    } finally {
      await endpoint.close();
    }
  });
});
