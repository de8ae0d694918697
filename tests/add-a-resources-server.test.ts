import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { repository } from "./gym-process.ts";
import { freePort } from "./support/free-port.ts";
import { packedProject, runBin, startBin } from "./support/packed-project.ts";

/** A model that looks the weather up once, then repeats the output of the tool. */
async function startWeatherModel(): Promise<string> {
  const server: Server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify(request.method === "POST" ? answer(JSON.parse(body)) : { data: [] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}

interface Item {
  type?: string;
  output?: string;
  content?: unknown;
}

function answer({ input, tools = [] }: { input: string | Item[]; tools?: unknown[] }) {
  const items = typeof input === "string" ? [] : input;
  const told = items.findLast(({ type }) => type === "function_call_output")?.output;
  const city = /in ([A-Z][a-z]+(?: [A-Z][a-z]+)*)/.exec(JSON.stringify(input))?.[1] ?? "San Francisco";
  const call = {
    type: "function_call",
    id: "fc_1",
    call_id: "call_1",
    name: "get_weather",
    arguments: JSON.stringify({ city }),
    status: "completed",
  };
  const text =
    told === undefined ? "Hello." : (JSON.parse(told) as { weather_description: string }).weather_description;
  const message = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
  return {
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "weather",
    status: "completed",
    output: [told === undefined && tools.length > 0 ? call : message],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools,
  };
}

/** The files that the guide asks the reader to write, by their path in the folder of the server. */
async function guideFiles(): Promise<Map<string, string>> {
  const guide = await readFile(path.join(repository, "docs/guide/writing-an-environment.md"), "utf8");
  const blocks = guide.matchAll(/^\*\*`([^`]+)`\*\*\n\n```\w+\n([\s\S]*?)^```$/gm);
  return new Map([...blocks].map(([, file = "", content = ""]) => [file, content]));
}

/** The how-to "Add a resource server", step by step, in a new project that has installed this package. */
it("adds a resources server from the scaffold to the rollouts", { timeout: 180_000 }, async () => {
  const modelUrl = await startWeatherModel();
  const cwd = await packedProject({
    "env.yaml": `policy_base_url: ${modelUrl}\npolicy_api_key: sk-test\npolicy_model_name: weather\n`,
  });
  const folder = path.join(cwd, "resources_servers/test_weather");
  const read = (file: string) => readFile(path.join(folder, file), "utf8");

  // Initialise the server. It runs, validates and passes its own tests without changes.
  const init = await runBin(cwd, "ng_init_resources_server", "+entrypoint=resources_servers/test_weather");
  expect(init.exitCode, init.stderr).toBe(0);
  expect(init.stdout).toContain("resources_servers/test_weather/app.ts");
  const fresh = await runBin(cwd, "ng_test", "+entrypoint=resources_servers/test_weather");
  expect(fresh.exitCode, fresh.stdout + fresh.stderr).toBe(0);

  // Implement the tool and the verifier with the code of the guide.
  const files = await guideFiles();
  expect([...files.keys()]).toEqual(["app.ts", "app.test.ts", "data/example.jsonl", "audit.yaml"]);
  for (const [file, content] of files) await writeFile(path.join(folder, file), content);

  // Everything is typed.
  const types = await runBin(cwd, "tsc", "--noEmit", "-p", ".");
  expect(types.stdout).toBe("");

  // Run an agent with the new server and query it.
  const head = `++head_server.port=${await freePort()}`;
  const configPaths = [
    "responses_api_agents/simple_agent/configs/simple_agent.yaml",
    "responses_api_models/openai_model/configs/openai_model.yaml",
    "resources_servers/test_weather/configs/test_weather.yaml",
  ].join(",");
  const servers = await startBin(
    cwd,
    "servers ready",
    "ng_run",
    `+config_paths=[${configPaths}]`,
    "+simple_agent.responses_api_agents.simple_agent.resources_server.name=test_weather_resources_server",
    head,
  );
  const row = `resources_servers/test_weather/data/example.jsonl:1`;
  const asked = await runBin(cwd, "gym", "env", "query", "--agent", "simple_agent", "--row", row, head);
  expect(asked.exitCode, asked.stderr).toBe(0);
  expect(asked.stdout).toContain('→ get_weather({"city":"San Francisco"})');
  expect(asked.stdout).toContain("The weather in San Francisco is cold.");
  expect(asked.stdout).toContain("reward: 1");

  // Run the tests of the server.
  const tested = await runBin(cwd, "ng_test", "+entrypoint=resources_servers/test_weather");
  expect(tested.exitCode, tested.stdout).toBe(0);

  // Metrics of the examples.
  const data = ["resources_servers/test_weather/configs/test_weather.yaml", configPaths.split(",")[1]].join(
    ",",
  );
  const metrics = await runBin(
    cwd,
    "ng_prepare_data",
    `+config_paths=[${data}]`,
    "+output_dirpath=data/test_weather",
    "+mode=example_validation",
  );
  expect(metrics.exitCode, metrics.stdout + metrics.stderr).toBe(0);
  expect(JSON.parse(await read("data/example_metrics.json"))).toMatchObject({
    "Number of examples": 5,
    "Number of tools": { Average: 0 },
  });

  // Rollouts of the examples, from the running servers.
  const collected = await runBin(
    cwd,
    "ng_collect_rollouts",
    "+agent_name=test_weather_simple_agent",
    "+input_jsonl_fpath=resources_servers/test_weather/data/example.jsonl",
    "+output_jsonl_fpath=resources_servers/test_weather/data/example_rollouts.jsonl",
    "+limit=null",
    "+num_repeats=null",
    "+num_samples_in_parallel=null",
    head,
  );
  expect(collected.exitCode, collected.stdout + collected.stderr).toBe(0);
  const rollouts = (await read("data/example_rollouts.jsonl"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(rollouts).toHaveLength(5);
  expect(rollouts.map(({ reward }) => reward)).toEqual([1, 1, 1, 1, 1]);
  expect(JSON.stringify(rollouts)).toContain("The weather in Lima is cold.");
  expect(await servers.stop()).toBe(0);

  // Every required file exists at the end.
  const complete = await runBin(
    cwd,
    "ng_test",
    "+entrypoint=resources_servers/test_weather",
    "+should_validate_data=true",
  );
  expect(complete.stdout).toContain("The example data of resources_servers/test_weather is complete.");
  expect(complete.exitCode).toBe(0);
  const audited = await runBin(cwd, "gym", "env", "audit", "test_weather");
  expect(audited.exitCode, audited.stdout + audited.stderr).toBe(0);
  const listed = await runBin(cwd, "gym", "list", "resources-servers", "test_weather", "--json");
  expect(JSON.parse(listed.stdout)).toMatchObject({ name: "test_weather", domain: "other" });
});
