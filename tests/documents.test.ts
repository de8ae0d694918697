import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { type EndpointRequest, type MockAnswer, MockModelEndpoint } from "nemo-gym/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import manifest from "../package.json" with { type: "json" };
import { type FinishedProcess, project, repository } from "./gym-process.ts";
import { freePort } from "./support/free-port.ts";
import { type HubServer, startHubServer } from "./support/hub-server.ts";
import { type MlflowServer, startMlflowServer } from "./support/mlflow-server.ts";

/**
 * Runs the commands of the five documents that describe the original (the CLI page, the CLI reference, the old README with its
 * how-tos, the new README, the docs' home) unchanged, in a shell, against doubles of the model, the hub and the
 * registry. `python …/client.py` is `node …/client.ts` here, and `ray stop` is `gym env stop`. Not included: ng_dev_test and
 * ng_test_all, which run tests that run here anyway (src/cli/env/test/shipped-servers.test.ts checks that they would
 * pass), and `+outdated=true`, which asks the npm registry.
 */

const QUERY =
  '{"responses_create_params":{"input":[{"role":"developer","content":"You are a helpful assistant."},{"role":"user","content":"What is the weather in Seattle?"}]}}';
const OPENAI_MODEL = "responses_api_models/openai_model/configs/openai_model.yaml";
const TIMEOUT_MS = 60_000;

let model: MockModelEndpoint;
let hub: HubServer;
let registry: MlflowServer;
let cwd: string;
let head: number;
let terminal: ChildProcess | undefined;

beforeEach(async () => {
  model = await new MockModelEndpoint({ answer: askForWeather }).start();
  hub = await startHubServer({ token: "hf_secret", organizations: ["NVIDIA"] });
  registry = await startMlflowServer({ token: "glpat-secret" });
  hub.collections.set("NVIDIA/nemo-gym-abc123", { slug: "NVIDIA/nemo-gym-abc123", items: [] });
  head = await freePort();
  cwd = await project({
    "env.yaml": [
      `policy_base_url: ${model.baseUrl}`,
      "policy_api_key: your-openai-api-key",
      "policy_model_name: gpt-4.1-2025-04-14",
      `head_server: {host: 127.0.0.1, port: ${head}}`,
      "simple_weather_config_paths:",
      "- responses_api_agents/simple_agent/configs/simple_agent.yaml",
      `- ${OPENAI_MODEL}`,
      "- resources_servers/simple_weather/configs/simple_weather.yaml",
      "hf_token: hf_secret",
      `hf_endpoint: ${hub.url}`,
      "hf_organization: NVIDIA",
      "hf_collection_name: NeMo Gym",
      "hf_collection_slug: abc123",
      `mlflow_tracking_uri: ${registry.trackingUri}`,
      "mlflow_tracking_token: glpat-secret",
    ].join("\n"),
  });
  await mkdir(path.join(cwd, "bin"));
  for (const [name, file] of Object.entries(manifest.bin))
    await symlink(path.join(repository, file), path.join(cwd, "bin", name));
  const client = path.join(cwd, "bin/client");
  await writeFile(
    client,
    `#!/bin/sh\nexec node --import ${repository}/node_modules/jiti/lib/jiti-register.mjs ${repository}/responses_api_agents/simple_agent/client.ts "$@"\n`,
  );
  await chmod(client, 0o755);
});

afterEach(async () => {
  terminal?.kill("SIGKILL");
  terminal = undefined;
  await Promise.all([model.close(), hub.close(), registry.close()]);
});

/** A model that calls the weather tool where it has one, and then answers. */
function askForWeather({ body }: EndpointRequest): MockAnswer {
  const { tools, input } = body as { tools?: { name: string }[]; input: { type?: string }[] };
  const hasTool = tools?.some(({ name }) => name === "get_weather") ?? false;
  if (!hasTool || input.some(({ type }) => type === "function_call_output")) return { text: "Hello." };
  return { toolCalls: [{ name: "get_weather", arguments: { city: "Seattle" } }] };
}

function start(script: string): ChildProcess {
  return spawn("bash", ["-eu", "-c", script], {
    cwd,
    env: {
      PATH: `${path.join(cwd, "bin")}:${process.env["PATH"]}`,
      HOME: cwd,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Runs commands in a shell until they end. */
async function shell(script: string): Promise<FinishedProcess> {
  const child = start(script);
  const texts = ["", ""];
  for (const [index, stream] of [child.stdout, child.stderr].entries())
    stream?.setEncoding("utf8").on("data", (text: string) => {
      texts[index] += text;
    });
  const [exitCode] = (await once(child, "close")) as [number | null];
  return { exitCode, stdout: texts[0] ?? "", stderr: texts[1] ?? "" };
}

async function succeeds(script: string): Promise<string> {
  const { exitCode, stdout, stderr } = await shell(script);
  expect(exitCode, `${script}\n${stdout}\n${stderr}`).toBe(0);
  return stdout;
}

/** Runs a command that keeps running, such as `ng_run`, until `text` is in its output. */
async function inTerminal(script: string, text: string): Promise<void> {
  const child = start(`exec ${script}`);
  terminal = child;
  let output = "";
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: string) => {
      output += chunk;
      if (output.includes(text)) resolve();
    };
    child.stdout?.setEncoding("utf8").on("data", read);
    child.stderr?.setEncoding("utf8").on("data", read);
    child.once("exit", (code) => reject(new Error(`${script} ended with ${code}:\n${output}`)));
  });
}

const startServers = (configs: string, ...words: string[]) =>
  inTerminal(["ng_run", `'+config_paths=${configs}'`, ...words].join(" "), "servers ready");

const rows = async (file: string): Promise<Record<string, unknown>[]> =>
  (await readFile(path.join(cwd, file), "utf8"))
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("quick starts", () => {
  it.each([
    [
      "README",
      "resources_servers/example_single_tool_call/configs/example_single_tool_call.yaml",
      "example_single_tool_call_simple_agent",
    ],
    [
      "docs' home",
      "resources_servers/example_simple_weather/configs/simple_weather.yaml",
      "simple_weather_simple_agent",
    ],
  ])(
    "%s: servers, client, rollouts, stop from another terminal",
    async (_document, config, agent) => {
      await startServers(`[${config},${OPENAI_MODEL}]`);
      expect(await succeeds("client")).toContain("reward: 1");
      const collected = await succeeds(
        `echo '${QUERY}' > weather_query.jsonl
ng_collect_rollouts \\
    +agent_name=${agent} \\
    +input_jsonl_fpath=weather_query.jsonl \\
    +output_jsonl_fpath=weather_rollouts.jsonl
cat weather_rollouts.jsonl | python3 -m json.tool`,
      );
      expect(collected).toContain('"reward": 1.0');
      expect(await succeeds("ng_status")).toContain("3 servers found (3 healthy, 0 unhealthy)");
      expect(await succeeds("gym env stop")).toContain("3 servers");
      await expect.poll(() => terminal?.exitCode, { timeout: 20_000 }).toBe(0);
    },
    TIMEOUT_MS,
  );
});

describe("the old README", () => {
  it.each([
    [
      `[${OPENAI_MODEL},resources_servers/simple_weather/configs/simple_weather.yaml]`,
      "+simple_weather_simple_agent.responses_api_agents.simple_agent.resources_server.name=simple_weather",
    ],
    [
      `\${simple_weather_config_paths}`,
      "+simple_agent.responses_api_agents.simple_agent.resources_server.name=simple_weather",
    ],
    [`[resources_servers/simple_weather/configs/simple_weather.yaml,${OPENAI_MODEL}]`, ""],
  ])(
    "starts servers by %s %s",
    async (configs, override) => {
      await startServers(configs, override);
      expect(await succeeds("client")).toContain("reward: 1");
    },
    TIMEOUT_MS,
  );

  it(
    "starts a user's model named openai_model with an included environment",
    async () => {
      await writeFile(
        path.join(cwd, "model.yaml"),
        [
          "openai_model:",
          "  responses_api_models:",
          "    openai_model:",
          "      entrypoint: app.py",
          `      openai_base_url: \${policy_base_url}`,
          `      openai_api_key: \${policy_api_key}`,
          `      openai_model_name: \${policy_model_name}`,
        ].join("\n"),
      );
      await startServers("[model.yaml,resources_servers/simple_weather/configs/simple_weather.yaml]");
      expect(await succeeds("client")).toContain("reward: 1");
    },
    TIMEOUT_MS,
  );

  it(
    "prepares, collects and views multineedle with its old names",
    async () => {
      const configs = `[${OPENAI_MODEL},resources_servers/multineedle/configs/multineedle.yaml]`;
      const prepared = await succeeds(
        `ng_prepare_data "+config_paths=${configs}" +output_dirpath=data/multineedle +mode=example_validation`,
      );
      for (const statistic of ["valid examples: 5", "Number of tools", "input tokens", "Number of turns"])
        expect(prepared).toContain(statistic);
      for (const statistic of ["Distinct create params: 5", "Distinct user messages: ", "Temperature"])
        expect(prepared).toContain(statistic);
      expect(await rows("data/multineedle/example.jsonl")).toHaveLength(5);
      expect(await succeeds(`ng_dump_config "+config_paths=${configs}"`)).toContain("policy_api_key: '****'");

      await startServers(configs);
      await succeeds(
        `ng_collect_rollouts +agent_name=multineedle_simple_agent \\
    +input_jsonl_fpath=resources_servers/multineedle/data/example.jsonl \\
    +output_jsonl_fpath=resources_servers/multineedle/data/example_rollouts.jsonl \\
    +limit=null \\
    +num_repeats=null \\
    +num_samples_in_parallel=null`,
      );
      // The old name refers to the current folder, also for written files.
      expect(await rows("resources_servers/example_multi_step/data/example_rollouts.jsonl")).toHaveLength(5);
    },
    TIMEOUT_MS,
  );

  it(
    "creates a resources server and tests it",
    async () => {
      await succeeds("ng_init_resources_server +entrypoint=resources_servers/test_weather");
      const config = "resources_servers/test_weather/configs/test_weather.yaml";
      expect(await succeeds(`gym env validate --config ${config}`)).toContain("Config is valid");
      expect(await succeeds("ng_test +entrypoint=responses_api_agents/simple_agent")).toContain("passed");
    },
    2 * TIMEOUT_MS,
  );
});

describe("the CLI reference", () => {
  it(
    "shows help and versions",
    async () => {
      expect(await succeeds("ng_help")).toContain("usage: gym");
      expect(await succeeds("ng_run +help=true")).toContain("config_paths");
      expect(await succeeds("ng_test +h=true")).toContain("entrypoint");
      expect(await succeeds("ng_collect_rollouts +h=true")).toContain("input_jsonl_fpath");
      expect(await succeeds("ng_profile +h=true")).toContain("pass_threshold");
      expect(await succeeds("ng_version +h=true")).toContain("json");
      expect(await succeeds("ng_version")).toContain("NeMo Gym v");
      expect(JSON.parse(await succeeds("ng_version +json=true"))).toHaveProperty("nemo_gym");
      const packages = "ng_pip_list +entrypoint=resources_servers/example_single_tool_call";
      await succeeds(packages);
      expect(JSON.parse(await succeeds(`${packages} +format=json`))).toBeInstanceOf(Array);
      expect(await succeeds("ng_status")).toContain("No NeMo Gym servers found");
    },
    TIMEOUT_MS,
  );

  it(
    "collects with repeats and profiles",
    async () => {
      const config = "resources_servers/example_single_tool_call/configs/example_single_tool_call.yaml";
      await startServers(`[${config},${OPENAI_MODEL}]`);
      await succeeds(
        `echo '${QUERY}' > weather_query.jsonl
ng_collect_rollouts \\
    +agent_name=example_single_tool_call_simple_agent \\
    +input_jsonl_fpath=weather_query.jsonl \\
    +output_jsonl_fpath=weather_rollouts.jsonl \\
    +limit=100 \\
    +num_repeats=4 \\
    +num_samples_in_parallel=10
ng_profile \\
    +input_jsonl_fpath=weather_query.jsonl \\
    +rollouts_jsonl_fpath=weather_rollouts.jsonl \\
    +output_jsonl_fpath=profiled_tasks.jsonl \\
    +pass_threshold=1.0`,
      );
      expect(await rows("profiled_tasks.jsonl")).toMatchObject([
        { avg_reward: 1, pass_rate: 1, pass_rate_total: 4 },
      ]);
      await succeeds("gym env stop");
      const port = await freePort();
      await inTerminal(
        `ng_viewer +jsonl_fpath=weather_rollouts.jsonl +server_port=${port}`,
        `127.0.0.1:${port}`,
      );
      expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
    },
    TIMEOUT_MS,
  );

  it(
    "moves datasets between the registry, the hub and the disk",
    async () => {
      const row = '{"responses_create_params": {"input": "a"}}';
      await succeeds(`mkdir -p data && echo '${row}' > data/train.jsonl`);
      const registryUpload = `ng_upload_dataset_to_gitlab \\
    +dataset_name=example_multi_step \\
    +version=0.0.1 \\
    +input_jsonl_fpath=data/train.jsonl`;
      await succeeds(registryUpload);
      expect((await shell(registryUpload.replace("0.0.1", "v1"))).stderr).toContain("x.x.x");
      await succeeds(`rm data/train.jsonl
ng_download_dataset_from_gitlab \\
    +dataset_name=example_multi_step \\
    +version=0.0.1 \\
    +artifact_fpath=train.jsonl \\
    +output_fpath=data/train.jsonl`);
      expect(await rows("data/train.jsonl")).toEqual([JSON.parse(row)]);

      await succeeds(registryUpload.replace("example_multi_step", "my_dataset"));
      const upload = `resource_config_path="resources_servers/example_multi_step/configs/example_multi_step.yaml"
yes | ng_upload_dataset_to_hf \\
    +dataset_name=my_dataset \\
    +input_jsonl_fpath=data/train.jsonl \\
    +resource_config_path=\${resource_config_path} \\
    +delete_from_gitlab=true`;
      await succeeds(upload);
      expect(registry.models.has("my_dataset")).toBe(false);
      const [uploaded] = [...hub.repositories.keys()];
      expect(uploaded).toContain("NVIDIA/");
      await succeeds(`ng_download_dataset_from_hf \\
    +repo_id=${uploaded} \\
    +artifact_fpath=train.jsonl \\
    +output_fpath=data/again.jsonl`);
      expect(await rows("data/again.jsonl")).toHaveLength(1);

      await succeeds(registryUpload.replace("example_multi_step", "my_dataset"));
      await succeeds(`resource_config_path="resources_servers/example_multi_step/configs/example_multi_step.yaml"
yes | ng_gitlab_to_hf_dataset \\
    +dataset_name=my_dataset \\
    +input_jsonl_fpath=data/train.jsonl \\
    +resource_config_path=\${resource_config_path}`);
      expect(registry.models.has("my_dataset")).toBe(false);
      await succeeds("yes | ng_delete_dataset_from_gitlab +dataset_name=example_multi_step");
      expect(registry.models.has("example_multi_step")).toBe(false);
    },
    2 * TIMEOUT_MS,
  );
});

/**
 * The environment table of the README: the config, its repository on the hub, what is ticked and the licence, with the file of each
 * dataset (`split:` for a split). The validation data of three environments has a source or a licence of its own.
 */
const TABLE: [
  string,
  string,
  string,
  Record<string, string | { repo: string; file: string; license: string }>,
][] = [
  [
    "calendar/configs/calendar.yaml",
    "nvidia/Nemotron-RL-agent-calendar_scheduling",
    "Apache 2.0",
    { train: "train.jsonl", validation: "validation.jsonl" },
  ],
  [
    "google_search/configs/google_search.yaml",
    "nvidia/Nemotron-RL-knowledge-web_search-mcqa",
    "Apache 2.0",
    { train: "mcqa_search.jsonl" },
  ],
  [
    "math_advanced_calculations/configs/math_advanced_calculations.yaml",
    "nvidia/Nemotron-RL-math-advanced_calculations",
    "Apache 2.0",
    { train: "split:train" },
  ],
  [
    "workplace_assistant/configs/workplace_assistant.yaml",
    "nvidia/Nemotron-RL-agent-workplace_assistant",
    "Apache 2.0",
    { train: "train.jsonl", validation: "validation.jsonl" },
  ],
  [
    "code_gen/configs/code_gen.yaml",
    "nvidia/nemotron-RL-coding-competitive_coding",
    "Apache 2.0",
    {
      train: "opencodereasoning_filtered_25k_train.jsonl",
      validation: {
        repo: "nvidia/nemotron-RL-coding-competitive_coding",
        file: "validation.jsonl",
        license: "MIT",
      },
    },
  ],
  [
    "mini_swe_agent/configs/mini_swe_agent.yaml",
    "SWE-Gym/SWE-Gym",
    "MIT",
    {
      train: "split:train",
      validation: { repo: "princeton-nlp/SWE-bench_Verified", file: "split:test", license: "MIT" },
    },
  ],
  [
    "instruction_following/configs/instruction_following.yaml",
    "nvidia/Nemotron-RL-instruction_following",
    "Apache 2.0",
    { train: "instruction_following.jsonl" },
  ],
  [
    "structured_outputs/configs/structured_outputs_json.yaml",
    "nvidia/Nemotron-RL-instruction_following-structured_outputs",
    "Apache 2.0",
    {
      train: "structured_outputs_251027_nano_v3_sdg_json_train.jsonl",
      validation: "structured_outputs_251027_nano_v3_sdg_json_val.jsonl",
    },
  ],
  [
    "equivalence_llm_judge/configs/equivalence_llm_judge.yaml",
    "nvidia/Nemotron-RL-knowledge-openQA",
    "Apache 2.0",
    { train: "split:train" },
  ],
  // One more than the table: the repository has a validation split.
  [
    "mcqa/configs/mcqa.yaml",
    "nvidia/Nemotron-RL-knowledge-mcqa",
    "Apache 2.0",
    { train: "split:train", validation: "split:validation" },
  ],
  [
    "math_with_judge/configs/math_with_judge.yaml",
    "nvidia/Nemotron-RL-math-OpenMathReasoning",
    "Creative Commons Attribution 4.0 International",
    {
      train: "train.jsonl",
      validation: {
        repo: "nvidia/Nemotron-RL-math-OpenMathReasoning",
        file: "validation.jsonl",
        license: "Apache 2.0",
      },
    },
  ],
  [
    "math_with_judge/configs/math_stack_overflow.yaml",
    "nvidia/Nemotron-RL-math-stack_overflow",
    "Creative Commons Attribution-ShareAlike 4.0 International",
    {
      train: "math_stack_overflow_problems.jsonl",
      validation: {
        repo: "nvidia/Nemotron-RL-math-OpenMathReasoning",
        file: "aime24_validation.jsonl",
        license: "Apache 2.0",
      },
    },
  ],
];

interface TableDataset {
  type: string;
  license?: string;
  source?: { type: string; repo_id: string; artifact_fpath?: string; split?: string };
}

describe("the environment table", () => {
  it.each(TABLE)(
    "%s has the data of its row",
    async (config, repo, license, types) => {
      const expected = Object.entries(types).map(([type, file]) => ({
        type,
        ...(typeof file === "string" ? { repo, file, license } : file),
      }));
      const blocks = parse(
        await readFile(path.join(repository, "resources_servers", config), "utf8"),
      ) as Record<string, { responses_api_agents?: Record<string, { datasets: TableDataset[] }> }>;
      const datasets = Object.values(blocks).flatMap(({ responses_api_agents: agents }) =>
        Object.values(agents ?? {}).flatMap((agent) => agent.datasets),
      );
      expect(
        datasets
          .filter(({ type }) => type !== "example")
          .map(({ type, source, license: given }) => ({
            type,
            repo: source?.repo_id,
            file: source?.artifact_fpath ?? `split:${source?.split ?? type}`,
            license: given,
          })),
      ).toEqual(expected);

      // Rows of SWE-bench have no parameters of a request; the config adds them.
      const row = repo.startsWith("SWE-")
        ? { instance_id: "a__b-1" }
        : { responses_create_params: { input: "a" } };
      for (const { repo: id, file } of expected) {
        const place = hub.repositories.get(id) ?? hub.addRepository(id);
        const [, split] = file.split("split:");
        place.put(
          split === undefined ? file : `data/${split}-00000-of-00001.jsonl`,
          `${JSON.stringify(row)}\n`,
        );
      }
      await succeeds(
        `ng_prepare_data "+config_paths=[resources_servers/${config},${OPENAI_MODEL}]" +output_dirpath=data/x +mode=train_preparation +should_download=true +serper_api_key=k`,
      );
      for (const { type } of expected)
        expect(await rows(`data/x/${type}.jsonl`)).toMatchObject([
          { ...row, responses_create_params: {}, agent_ref: { type: "responses_api_agents" } },
        ]);
    },
    TIMEOUT_MS,
  );
});

describe("the CLI page", () => {
  it(
    "lists, searches and validates all listed names",
    async () => {
      for (const list of ["benchmarks", "environments", "agents"])
        expect(JSON.parse(await succeeds(`gym list ${list} --json`))).not.toEqual([]);
      expect(await succeeds("gym search math")).toContain("math_with_judge");
      expect(await succeeds("gym search Nemotron-RL-knowledge-mcqa")).toContain("mcqa");
      expect(await succeeds("gym --help")).toContain("dataset");
      for (const name of ["gsm8k", "resources_servers/mcqa"])
        expect(await succeeds(`gym env validate --environment ${name}`)).toContain("Config is valid");
      const bad = await shell("gym env validate --resources-server mqca");
      expect(bad.exitCode).not.toBe(0);
      expect(bad.stderr).toContain("mcqa");
      expect(bad.stderr).not.toContain("    at ");
    },
    TIMEOUT_MS,
  );

  it(
    "runs, resumes, shards, aggregates and profiles",
    async () => {
      const run = "gym eval run --resources-server mcqa --model-type openai_model";
      await succeeds(
        `${run} --num-repeats 2 --temperature 0.5 --top-p 0.9 --max-output-tokens 64 -o all/a.jsonl`,
      );
      expect(model.requests.at(-1)?.body).toMatchObject({
        temperature: 0.5,
        top_p: 0.9,
        max_output_tokens: 64,
      });
      await succeeds(`rm all/a_aggregate_metrics.json && sed -i 4,\\$d all/a.jsonl
${run} --num-repeats 2 --temperature 0.5 --top-p 0.9 --max-output-tokens 64 -o all/a.jsonl --resume`);
      expect(await rows("all/a.jsonl")).toHaveLength(20);
      expect(
        await succeeds("gym eval profile --inputs all/a_materialized_inputs.jsonl --rollouts all/a.jsonl"),
      ).toContain("Pass rate");
      await succeeds(`${run} --limit 2 -o shards/1.jsonl +disable_aggregation=true
gym eval aggregate --input-glob 'shards/*.jsonl' --output shards/joined/rollouts.jsonl`);
      expect(await rows("shards/joined/rollouts.jsonl")).toHaveLength(2);
    },
    2 * TIMEOUT_MS,
  );
});
