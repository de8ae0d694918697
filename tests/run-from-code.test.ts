import { readdirSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import type * as RunModule from "../src/run/index.ts";
import { MockModelEndpoint } from "../src/testing/mock-model-endpoint.ts";
import { project, repository, runGym } from "./gym-process.ts";

// The build, so that environments and core share one set of modules, as for users.
const built = (file: string) => pathToFileURL(path.join(repository, "dist/src", file)).href;
const { runEvaluation } = (await import(built("run/index.js"))) as typeof RunModule;

const CONFIG = "resources_servers/example_single_tool_call/configs/example_single_tool_call.yaml";
const INPUT = path.join(repository, "resources_servers/example_single_tool_call/data/example.jsonl");

async function endpoint(): Promise<MockModelEndpoint> {
  const started = await new MockModelEndpoint({ answer: () => ({ text: "It is cold." }) }).start();
  onTestFinished(() => started.close());
  return started;
}

/** The files of a directory, without the names that a process gives to its logs. */
function filesIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((file) => file.replace(/\d{6,}/g, "N"))
    .sort();
}

const shipped = { config: CONFIG, input: INPUT };

function byCommand(cwd: string, baseUrl: string, words: readonly string[], { config, input } = shipped) {
  const model = [
    "--model-type",
    "openai_model",
    "--model-url",
    baseUrl,
    "--model-api-key",
    "k",
    "--model",
    "m",
  ];
  const run = ["eval", "run", "--config", config, "--input", input, "--output", "out/r.jsonl"];
  return runGym([...run, ...model, "+model_endpoint_readiness_timeout_seconds=0", ...words], { cwd });
}

function fromCode(cwd: string, baseUrl: string, { config = CONFIG, input = INPUT, resume = false } = {}) {
  return runEvaluation(
    {
      configPaths: [config],
      cwd,
      model: { type: "openai_model", url: baseUrl, name: "m", apiKey: "k" },
      values: { model_endpoint_readiness_timeout_seconds: 0 },
    },
    {
      input: path.resolve(cwd, input),
      output: path.join(cwd, "out/r.jsonl"),
      cwd,
      roots: [cwd, repository],
      resume,
    },
  );
}

it("a run from code leaves the files of the command", { timeout: 120_000 }, async () => {
  const { baseUrl } = await endpoint();
  const [command, code] = [await project({}), await project({})];
  const finished = await byCommand(command, baseUrl, []);
  expect(finished.exitCode, finished.stderr).toBe(0);
  const { health } = await fromCode(code, baseUrl).result;
  expect(health).toBeDefined();
  const files = filesIn(path.join(code, "out"));
  expect(files).toEqual(filesIn(path.join(command, "out")));
  expect(files).toEqual(expect.arrayContaining(["r_progress.json", "quality_summary.json"]));
});

it("gym eval ctl controls a run from code", { timeout: 120_000 }, async () => {
  const cwd = await project({});
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const model = await new MockModelEndpoint({
    answer: async () => {
      await released;
      return { text: "It is cold." };
    },
  }).start();
  onTestFinished(() => model.close());
  const runtime = process.env["XDG_RUNTIME_DIR"];
  process.env["XDG_RUNTIME_DIR"] = cwd;
  onTestFinished(() => {
    if (runtime === undefined) delete process.env["XDG_RUNTIME_DIR"];
    else process.env["XDG_RUNTIME_DIR"] = runtime;
  });
  const run = fromCode(cwd, model.baseUrl);
  for await (const event of run.events) {
    if (event.type !== "started") continue;
    const listed = await runGym(["eval", "ctl", "--json"], { cwd, env: { XDG_RUNTIME_DIR: cwd } });
    expect(JSON.parse(listed.stdout)).toMatchObject([
      { ok: true, pid: process.pid, output: path.join(cwd, "out/r.jsonl") },
    ]);
    release();
  }
  expect((await run.result).completed).toBe(5);
  const after = await runGym(["eval", "ctl", "--json"], { cwd, env: { XDG_RUNTIME_DIR: cwd } });
  expect(after.stdout).toBe("[]\n");
});

it("max_cost counts the failed attempts of earlier sessions", { timeout: 120_000 }, async () => {
  const { baseUrl } = await endpoint();
  const row = { responses_create_params: { input: "How cold is it?" } };
  const files = {
    "resources_servers/broken/app.ts": `
      import { defineResourcesServer } from ${JSON.stringify(built("index.js"))};
      export default defineResourcesServer({ verify() { throw new Error("broken verifier"); } });`,
    "resources_servers/broken/data/example.jsonl": `${JSON.stringify(row)}\n`,
    "run.yaml": `
      config_paths: [resources_servers/broken/configs/broken.yaml]
      max_cost: 100
      policy_model: {responses_api_models: {openai_model: {prices: {input: 1000, output: 0}}}}`,
    "resources_servers/broken/configs/broken.yaml": `
      broken: {resources_servers: {broken: {entrypoint: app.ts, domain: other}}}
      broken_agent:
        responses_api_agents:
          simple_agent:
            entrypoint: app.ts
            resources_server: {type: resources_servers, name: broken}
            model_server: {type: responses_api_models, name: policy_model}`,
  };
  const spent = /Earlier sessions of this run have spent \$0\.\d+ of its max_cost of \$100/;
  const broken = { config: "run.yaml", input: "resources_servers/broken/data/example.jsonl" };

  const command = await project(files);
  await byCommand(command, baseUrl, [], broken);
  const resumed = await byCommand(command, baseUrl, ["--resume"], broken);
  expect(resumed.stdout + resumed.stderr).toMatch(spent);

  const code = await project(files);
  await fromCode(code, baseUrl, { ...broken }).result;
  const again = fromCode(code, baseUrl, { ...broken, resume: true });
  const notices: string[] = [];
  for await (const event of again.events) if (event.type === "notice") notices.push(event.text);
  await again.result;
  expect(notices.join("\n")).toMatch(spent);
});
