import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type CaptureOptions, captureRun } from "../../../tests/support/captured-run.ts";
import { type HubServer, startHubServer } from "../../../tests/support/hub-server.ts";
import { type MlflowServer, startMlflowServer } from "../../../tests/support/mlflow-server.ts";

const hubToken = "hf_verysecret";
const registryToken = "glpat-verysecret";
const row = (input: string) => `{"responses_create_params": {"input": "${input}"}}\n`;
const sums = "resources_servers/sums/configs/sums.yaml";

let cwd: string;
let hub: HubServer;
let registry: MlflowServer;

beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), "gym-dataset-cli-"));
  hub = await startHubServer({ token: hubToken });
  registry = await startMlflowServer({ token: registryToken });
  hub.collections.set("acme/gym-data-68a1", { slug: "acme/gym-data-68a1", items: [] });
  await put(
    "env.yaml",
    [
      `hf_token: ${hubToken}`,
      `hf_endpoint: ${hub.url}`,
      "hf_organization: acme",
      "hf_collection_name: Gym Data",
      "hf_collection_slug: 68a1",
      `mlflow_tracking_uri: ${registry.trackingUri}`,
      `mlflow_tracking_token: ${registryToken}`,
    ].join("\n"),
  );
  await put(
    sums,
    `sums:
  resources_servers:
    sums: {entrypoint: app.py, domain: math}
sums_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.py
      datasets:
      - {name: example, type: example, jsonl_fpath: data/example.jsonl}
      - name: train
        type: train
        license: MIT
        jsonl_fpath: data/train.jsonl
        source: {type: huggingface, repo_id: acme/sums, artifact_fpath: train.jsonl}
`,
  );
  await put("data/example.jsonl", row("a") + row("b"));
});

afterEach(async () => {
  await Promise.all([hub.close(), registry.close()]);
  await rm(cwd, { recursive: true, force: true });
});

async function put(name: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(cwd, name)), { recursive: true });
  await writeFile(path.join(cwd, name), text);
}

const read = (name: string) => readFile(path.join(cwd, name), "utf8");

/** Runs a command and checks that its output contains no key. */
async function gym(words: string, options: CaptureOptions = {}) {
  const run = await captureRun(words.split(" "), { cwd, ...options });
  expect(run.stdout + run.stderr).not.toMatch(/verysecret/);
  return run;
}

describe("gym dataset collate", () => {
  it("validates, reports and collates", async () => {
    await put("data/example.jsonl", `${row("a")}{"responses_create_params": {"input": "x", "seed": 1}}\n`);
    const { exitCode, stdout, stderr } = await gym(
      `dataset collate --config ${sums} --mode example_validation --output-dir out`,
    );
    expect(exitCode).toBe(0);
    expect(stdout).toContain("# Load and validate server instance configs");
    expect(stdout).toContain("- sums_agent: example (example), train (train)");
    expect(stdout).toContain("- example: out/example.jsonl (2 rows), out/example_metrics.json");
    expect(stderr).toContain(
      "data/example.jsonl:2: responses_create_params.seed: Extra inputs are not permitted",
    );
    expect(await read("out/example.jsonl")).toContain(
      '"agent_ref": {"type": "responses_api_agents", "name": "sums_agent"}',
    );
  });

  it("prints and saves the seven documented statistics", async () => {
    await put(
      "data/example.jsonl",
      `${row("a") + row("a")}{"responses_create_params": {"input": "b", "temperature": 0.5, "top_p": 0.9}}\n`,
    );
    const { stdout } = await gym(
      `dataset collate --config ${sums} --mode example_validation --output-dir out`,
    );
    for (const statistic of [
      "valid examples: 3",
      "Number of tools",
      "input tokens",
      "Number of turns",
      "Distinct create params: 2",
      "Temperature",
      "top_p",
      "Distinct user messages: 2",
    ])
      expect(stdout).toContain(statistic);
    expect(JSON.parse(await read("out/example_statistics.json"))).toMatchObject({
      unique_create_params: 2,
      unique_user_messages: 2,
      sampling_parameters: { top_p: { Average: 0.9 } },
      tokens: { "Total # non-null values": 3 },
    });
  });

  it("fails for a config without a dataset of the mode", async () => {
    await put("data/none.yaml", "a:\n  resources_servers:\n    sums: {entrypoint: app.py, domain: math}\n");
    const run = await gym(
      "dataset collate --config data/none.yaml --mode example_validation --output-dir out",
    );
    expect(run).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("has no dataset of the types"),
    });
  });

  it("fails a strict run and prints JSON for programs", async () => {
    await put("data/example.jsonl", "{}\n");
    const strict = await gym(
      `dataset collate --config ${sums} --mode example_validation --output-dir out --strict`,
    );
    expect(strict).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("Error: Invalid rows (strict mode)"),
    });
    await put("data/example.jsonl", row("a"));
    const { stdout } = await gym(
      `dataset collate --config ${sums} --mode example_validation --output-dir out --json`,
    );
    expect(JSON.parse(stdout)).toMatchObject({
      files: [
        { type: "example", rows: 1, file: "out/example.jsonl", metrics_file: "out/example_metrics.json" },
      ],
      datasets: [{ agent: "sums_agent", name: "example", rows: 1, invalid_rows: 0 }],
    });
  });

  it("downloads missing datasets if asked to", async () => {
    const words = `dataset collate --config ${sums} --mode train_preparation --output-dir out`;
    const without = await gym(words);
    expect(without).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("Turn on --download") });
    hub.addRepository("acme/sums", { private: true }).put("train.jsonl", row("from the hub"));
    const { exitCode } = await gym(`${words} --download`);
    expect(exitCode).toBe(0);
    expect(await read("out/train.jsonl")).toContain("from the hub");
  });

  it("works under its older name", async () => {
    const { exitCode, stderr } = await gym(
      `+config_paths=[${sums}] +output_dirpath=data/sums +mode=example_validation`,
      { startedAs: "ng_prepare_data" },
    );
    expect(exitCode).toBe(0);
    expect(stderr).toContain("use `gym dataset collate` instead");
    expect(existsSync(path.join(cwd, "data/sums/example.jsonl"))).toBe(true);
  });

  it.each([
    ["--config none.yaml --mode example_validation --output-dir out", 1, /none\.yaml/],
    [`--config ${sums} --mode training --output-dir out`, 2, /invalid choice: 'training'/],
    [`--config ${sums}`, 2, /missing required configuration: mode, output_dirpath/],
    ["--mode example_validation --output-dir out", 2, /no config was given.* Name one with --config FILE/],
    [`--config ${sums} --mode example_validation --output-dir data`, 1, /is the source of dataset 'example'/],
    [
      `--config ${sums} --mode example_validation --output-dir out +data_source=s3`,
      2,
      /data_source \(must be one of/,
    ],
  ])("rejects %s", async (words, exitCode, message) => {
    const run = await gym(`dataset collate ${words}`);
    expect(run.exitCode).toBe(exitCode);
    expect(run.stdout + run.stderr).toMatch(message);
  });

  it("reports the problem of a dataset entry", async () => {
    await put("bad.yaml", (await read(sums)).replace("license: MIT", "license: Beerware"));
    const { exitCode, stdout } = await gym(
      "dataset collate --config bad.yaml --mode example_validation --output-dir out",
    );
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/license: Must be one of: 'Apache 2.0'/);
  });
});

describe("gym dataset render", () => {
  it("fills the templates", async () => {
    await put("raw.jsonl", '{"question": "2+2?"}\n');
    await put("p.yaml", "user: 'Q: {question}'\n");
    const { exitCode, stdout } = await gym(
      "dataset render -i raw.jsonl --prompt-config p.yaml -o deep/out.jsonl",
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "Rendered 1 rows into deep/out.jsonl.\n" });
    expect(JSON.parse(await read("deep/out.jsonl"))).toMatchObject({
      prompt_config_used: path.join(cwd, "p.yaml"),
    });
  });

  it("does not overwrite its input, not even through a link", async () => {
    await put("raw.jsonl", '{"question": "2+2?"}\n');
    await put("p.yaml", "user: 'Q: {question}'\n");
    await symlink(path.join(cwd, "raw.jsonl"), path.join(cwd, "link.jsonl"));
    for (const [output, what] of [
      ["raw.jsonl", "the input itself"],
      ["link.jsonl", "the input itself"],
      ["p.yaml", "the prompt config"],
    ]) {
      expect(await gym(`dataset render -i raw.jsonl --prompt-config p.yaml -o ${output}`)).toMatchObject({
        exitCode: 1,
        stderr: `Error: The output '${output}' is ${what}. Choose another output file.\n`,
      });
    }
    expect(await read("raw.jsonl")).toBe('{"question": "2+2?"}\n');
    expect(await read("p.yaml")).toBe("user: 'Q: {question}'\n");
  });

  it.each([
    ["-i none.jsonl --prompt-config p.yaml -o o.jsonl", 1, "Input file not found: 'none.jsonl' (--input)."],
    ["-i data --prompt-config p.yaml -o o.jsonl", 1, "'data' (--input) is not a file."],
    ["-i data/example.jsonl --prompt-config p.yaml -o o.jsonl", 1, "p.yaml' does not exist"],
    ["-i data/example.jsonl", 2, "missing required configuration: prompt_config, output_jsonl_fpath"],
  ])("rejects %s", async (words, exitCode, message) => {
    expect(await gym(`dataset render ${words}`)).toMatchObject({
      exitCode,
      stderr: expect.stringContaining(message),
    });
  });
});

describe("gym dataset upload", () => {
  const words = `dataset upload -i data/example.jsonl +resource_config_path=${sums}`;

  it("names the repository after domain and resources server", async () => {
    const { exitCode, stdout } = await gym(words);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Created the private repository acme/Nemotron-RL-math-sums.");
    expect(stdout).toContain(`Uploaded data/example.jsonl to ${hub.url}/datasets/acme/Nemotron-RL-math-sums`);
    expect(hub.collections.get("acme/gym-data-68a1")?.items).toHaveLength(1);
    expect((await gym(words)).stdout).toContain("already exists with the same content");
  });

  it("reads prefix, name, branch and pull request from flags and keys", async () => {
    hub.addRepository("acme/NeMo-Gym-math-mine", { private: true }).branch("v2");
    const { stdout } = await gym(`${words} --name mine +hf_dataset_prefix=NeMo-Gym --revision v2 --json`);
    expect(JSON.parse(stdout)).toMatchObject({ repository: "acme/NeMo-Gym-math-mine", uploaded: true });
    const pull = await gym(`${words} --create-pr`);
    expect(pull.stdout).toMatch(/Pull request: http.*discussions/);
  });

  it("does not upload rows that cannot be used for training", async () => {
    await put("data/example.jsonl", `${row("a")}{"input": "x"}\n{oops\n`);
    const { exitCode, stderr } = await gym(words);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("2 of 3 rows of");
    expect(stderr).toContain("(lines 2-3). Nothing was uploaded.");
    expect(hub.requests).toHaveLength(0);
    expect((await gym(`${words} --split test`)).exitCode).toBe(0);
  });

  it("rejects invalid names and files before any request to the hub", async () => {
    await put("d/c.yaml", await read(sums));
    await put("empty.jsonl", "");
    const run = (input: string, config: string, ...more: string[]) =>
      captureRun(["dataset", "upload", "-i", input, `+resource_config_path=${config}`, ...more], { cwd });
    const file = "data/example.jsonl";
    expect((await run(file, "d/c.yaml")).stderr).toContain(
      "'d/c.yaml' does not name a resources server (resources_servers/<name>/…); give --name.",
    );
    expect((await run(file, sums, "--name", "a b/ü")).stderr).toContain(
      "'acme/Nemotron-RL-math-a b/ü' is not a repository",
    );
    expect((await run("empty.jsonl", sums)).stderr).toContain(
      "'empty.jsonl' (--input) is empty. Nothing was uploaded.",
    );
    expect(hub.requests).toHaveLength(0);
    expect((await run(file, path.join(cwd, sums), "--json")).stdout).toContain(
      '"acme/Nemotron-RL-math-sums"',
    );
  });

  it("reports errors of the hub with status and host", async () => {
    const rejected = await gym(`${words} ++hf_token=hf_wrong`);
    expect(rejected.exitCode).toBe(1);
    expect(rejected.stderr).toMatch(
      /^Error: 401 from 127\.0\.0\.1:\d+: Invalid credentials in Authorization header/,
    );
    expect(rejected.stderr).toContain("\nCheck the token in env.yaml; private repositories need one.\n");
    hub.collections.set("others/gym-data-68a1", { slug: "others/gym-data-68a1", items: [] });
    const other = await gym(`${words} ++hf_organization=others`);
    expect(other.stderr).toMatch(
      /403 from .* don't have the rights .*\(repository 'others\/Nemotron-RL-math-sums'\)\nRequest the permission;/,
    );
    const collection = await gym(`${words} ++hf_collection_slug=none`);
    expect(collection.stderr).toMatch(/404 from .*: Collection not found/);
  });

  it("can upload to the registry", async () => {
    const upload = "dataset upload --storage gitlab -i data/example.jsonl --name sums --revision 0.0.1";
    expect(await gym(upload.replace("0.0.1", "v1"))).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("version is 'v1'; it must be three numbers (x.x.x)"),
    });
    const { exitCode, stdout } = await gym(upload);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(
      "gym dataset download --storage gitlab --name sums --revision 0.0.1 --artifact example.jsonl --output data/example.jsonl",
    );
    expect(registry.readFile("sums", "0.0.1", "example.jsonl")).toBe(row("a") + row("b"));
    const again = await gym(upload);
    expect(again).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("is already part of version 0.0.1"),
    });
    expect((await gym(`${upload} --overwrite`)).exitCode).toBe(0);
    const older = await gym("+dataset_name=old +version=0.0.1 +input_jsonl_fpath=data/example.jsonl", {
      startedAs: "ng_upload_dataset_to_gitlab",
    });
    expect(older.exitCode).toBe(0);
  });

  it("names the missing keys of the registry", async () => {
    await put("env.yaml", "");
    const run = await gym(
      "dataset upload --storage gitlab -i data/example.jsonl --name sums --revision 0.0.1",
    );
    expect(run).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("mlflow_tracking_token: <your GitLab token>"),
    });
    const keys = await gym("dataset upload -i data/example.jsonl");
    expect(keys).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        "hf_organization, hf_collection_name, hf_collection_slug, resource_config_path",
      ),
    });
    expect(keys.stderr).toContain("Keys that begin with hf_ have no flag: put them into env.yaml.");
    expect((await gym("dataset upload --help")).stdout).toMatch(/hf_collection_slug .*\[required\]/s);
  });
});

describe("gym dataset download", () => {
  it("downloads a file, a split, or all splits", async () => {
    const repo = hub.addRepository("acme/sums", { private: true });
    repo.put("data/train.jsonl", row("t"));
    repo.put("data/test.jsonl", row("e"));
    const file = await gym("dataset download --repo-id acme/sums --artifact data/train.jsonl -o got/t.jsonl");
    expect(file.stdout).toBe(
      "Downloading data/train.jsonl of acme/sums\nWrote got/t.jsonl (44 bytes, git-blob checked).\n",
    );
    await gym("dataset download --repo-id acme/sums --artifact data/train.jsonl --output-dir named");
    expect(await read("named/train.jsonl")).toBe(row("t"));
    const split = await gym("dataset download --repo-id acme/sums --split test -o got/e.jsonl --json");
    expect(JSON.parse(split.stdout)).toEqual({ files: [{ file: "got/e.jsonl", rows: 1 }] });
    const all = await gym("dataset download --repo-id acme/sums --output-dir all");
    expect(all.stdout).toContain("Wrote all/train.jsonl (1 rows).");
    expect(await read("all/test.jsonl")).toBe(row("e"));
  });

  it("also reads the address and key of the hub from the environment", async () => {
    hub.addRepository("acme/sums", { private: true }).put("train.jsonl", row("t"));
    await put("env.yaml", "");
    const env = { HF_TOKEN: hubToken, HF_ENDPOINT: hub.url };
    const run = await gym("dataset download --repo-id acme/sums --split train -o t.jsonl", { env });
    expect(run.exitCode).toBe(0);
    const without = await gym("dataset download --repo-id acme/sums --split train -o t.jsonl", {
      env: { HF_ENDPOINT: hub.url },
    });
    expect(without).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/^Error: 401 from/) });
  });

  it("continues an interrupted download and rejects a damaged file", async () => {
    const content = row("t").repeat(500);
    hub.addRepository("acme/sums").put("big.jsonl", content, { lfs: true });
    hub.fail({ match: /GET/, store: true, breakAfterBytes: 700 });
    const words = "dataset download --repo-id acme/sums --artifact big.jsonl -o big.jsonl";
    const run = await gym(words);
    expect(run.exitCode).toBe(0);
    expect(run.stderr).toMatch(/The transfer was interrupted: .*[^.]\. Retrying in/);
    expect(await read("big.jsonl")).toBe(content);
    hub.fail({ match: /GET/, store: true, corrupt: true });
    const damaged = await gym(words);
    expect(damaged).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("does not have its sha256 checksum"),
    });
    expect(await read("big.jsonl")).toBe(content);
  });

  it.each([
    ["--repo-id acme/sums --split train", "give exactly one of output_fpath"],
    ["--repo-id acme/sums --split train -o a --output-dir b", "give exactly one of output_fpath"],
    ["--repo-id acme/sums --split train --artifact a -o a", "cannot be combined"],
    ["--repo-id acme/sums -o a", "needs artifact_fpath (--artifact) or split"],
    ["-o a --split train", "missing required configuration: repo_id"],
    ["--storage gitlab --name x", "missing required configuration: version, artifact_fpath, output_fpath"],
  ])("rejects %s", async (words, message) => {
    expect(await gym(`dataset download ${words}`)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(message),
    });
  });

  it("reports what is missing on the hub", async () => {
    const words = "dataset download --repo-id acme/none --artifact a.jsonl -o a.jsonl";
    expect(await gym(words)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/404 from .*Repository not found/),
    });
    expect(existsSync(path.join(cwd, "a.jsonl"))).toBe(false);
  });

  it("downloads from the registry, also under its older name", async () => {
    registry.addFile("sums", "0.0.1", "train.jsonl", row("r"));
    const words = "--name sums --revision 0.0.1 --artifact train.jsonl -o got/r.jsonl";
    expect((await gym(`dataset download --storage gitlab ${words}`)).exitCode).toBe(0);
    expect(await read("got/r.jsonl")).toBe(row("r"));
    const older = await gym(
      "+dataset_name=sums +version=0.0.1 +artifact_fpath=train.jsonl +output_fpath=data/r.jsonl",
      { startedAs: "nemo_gym_download_dataset_from_gitlab" },
    );
    expect(older.exitCode).toBe(0);
    const wrong = await gym(`dataset download --storage gitlab ${words.replace("0.0.1", "9.9.9")}`);
    expect(wrong.stderr).toContain("The registry has no version '9.9.9' of a dataset 'sums'.");
  });
});

describe("gym dataset rm and migrate", () => {
  beforeEach(() => registry.addFile("sums", "0.0.1", "train.jsonl", row("r")));

  const answering = (text: string) => ({ stdin: Readable.from([text]) as unknown as NodeJS.ReadableStream });

  it("ask first, and only yes confirms", async () => {
    for (const answer of ["n\n", "\n", "no", "yess\n"]) {
      const { exitCode, stdout } = await gym("dataset rm --name sums", answering(answer));
      expect({ exitCode, stdout }).toEqual({
        exitCode: 0,
        stdout:
          "Delete 'sums' and all its versions from the registry? [y/N]: Skipped: 'sums' was not deleted.\n",
      });
    }
    const { stdout } = await gym("dataset rm --name sums", answering(" YES \n"));
    expect(stdout).toContain("Deleted 'sums' from the registry.");
    expect(registry.models.has("sums")).toBe(false);
  });

  it("fail without an answer", async () => {
    for (const options of [answering(""), {}]) {
      expect(await gym("dataset rm --name sums", options)).toMatchObject({
        exitCode: 1,
        stderr: "Error: No answer: 'sums' was not deleted. Use --yes to delete without confirmation.\n",
      });
    }
    expect(registry.models.has("sums")).toBe(true);
  });

  it("do not ask with --yes, and report a missing dataset", async () => {
    expect((await gym("dataset rm --name sums --yes")).stdout).toBe("Deleted 'sums' from the registry.\n");
    expect(await gym("dataset rm --name sums --yes")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("The registry has no dataset 'sums'."),
    });
  });

  it("move a dataset to the hub", async () => {
    const words = `dataset migrate -i data/example.jsonl --name sums +resource_config_path=${sums}`;
    const { exitCode, stdout } = await gym(words, answering("y\n"));
    expect(exitCode).toBe(0);
    expect(stdout).toContain("Deleted 'sums' from the registry.");
    expect(hub.repositories.get("acme/Nemotron-RL-math-sums")?.read("example.jsonl")).toBe(
      row("a") + row("b"),
    );
    expect(await gym(`${words} +delete_from_gitlab=true`)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("delete_from_gitlab (not allowed here"),
    });
  });

  it("delete nothing when the upload fails", async () => {
    hub.fail({ match: /commit/, status: 409, body: { error: "A commit has happened since" } });
    const run = await gym(
      `dataset migrate -i data/example.jsonl --name sums +resource_config_path=${sums} --yes`,
    );
    expect(run).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/409 from .*A commit has happened since/),
    });
    expect(registry.models.has("sums")).toBe(true);
  });

  it("delete after an upload with delete_from_gitlab", async () => {
    const words = `dataset upload -i data/example.jsonl --name sums +resource_config_path=${sums}`;
    const { stdout, stderr } = await gym(`${words} +delete_from_gitlab=true --yes --json`);
    expect(JSON.parse(stdout)).toMatchObject({ uploaded: true });
    expect(stderr).toContain("Deleted 'sums' from the registry.");
  });
});

describe("gym dataset head and stats", () => {
  it("print rows in readable form", async () => {
    const tool = {
      type: "function",
      name: "lookup",
      parameters: { type: "object", properties: { q: {}, n: {} } },
    };
    const long = `first\n${"line\n".repeat(30)}`;
    await put(
      "rows.jsonl",
      `${JSON.stringify({
        responses_create_params: {
          input: [
            { role: "system", content: "Be \u001b[31mbrief" },
            { role: "user", content: [{ type: "input_text", text: long }] },
            { type: "function_call", name: "lookup", arguments: '{"q": 1}', call_id: "c" },
            { type: "function_call_output", call_id: "c", output: "42" },
          ],
          tools: [tool],
          temperature: 0.5,
        },
        response: {
          output: [{ role: "assistant", type: "message", content: [{ type: "output_text", text: "done" }] }],
        },
        reward: 1.0,
        answer: "é",
      })}\n{oops\n${row("third")}`,
    );
    const { exitCode, stdout } = await gym("dataset head rows.jsonl -n 2");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("system      Be \\x1b[31mbrief\n");
    expect(stdout).toContain("user        first\n            line\n");
    expect(stdout).toContain("… (24 more lines)");
    expect(stdout).toContain(
      'call        lookup({"q": 1})\nresult      42\ntools       lookup(q, n)\nparameters  temperature: 0.5\n',
    );
    expect(stdout).toContain("→ assistant done\nreward      1\nanswer      é\n");
    expect(stdout).toMatch(/── row 2 ─+\nrows\.jsonl:2: /);
    expect(stdout).not.toContain("third");
    expect((await gym("dataset head rows.jsonl -n 1 --full")).stdout).not.toContain("more lines");
    expect((await gym("dataset head rows.jsonl --skip 2 --json")).stdout).toBe(row("third"));
    expect((await gym("dataset head rows.jsonl --skip 9")).stdout).toBe("rows.jsonl has 3 rows.\n");
  });

  it("omit broken lines from the JSON", async () => {
    await put("bom.jsonl", `\ufeff${row("a")}`);
    expect((await gym("dataset head bom.jsonl --json")).stderr).toContain(
      "bom.jsonl:1: the line begins with a byte order mark (BOM)",
    );
    expect((await gym("dataset stats bom.jsonl")).stderr).toContain(
      "bom.jsonl:1: the line begins with a byte order mark (BOM)",
    );
    await put("rows.jsonl", `${row("a")}{oops\n\n${row("b")}`);
    expect(await gym("dataset head rows.jsonl --json")).toMatchObject({
      exitCode: 1,
      stdout: row("a") + row("b"),
      stderr: expect.stringMatching(
        /^Error: rows\.jsonl:2: .*\nError: rows\.jsonl:3: the line is blank\.\n$/,
      ),
    });
  });

  it("escape control characters in names and values", async () => {
    const hostile = {
      responses_create_params: { input: "a\u202eb" },
      "\u001b[31mred\nfield": 1,
      "t\u009b": "x",
    };
    await put("rows.jsonl", `${JSON.stringify(hostile)}\n`);
    const head = await gym("dataset head rows.jsonl");
    const stats = await gym("dataset stats rows.jsonl");
    expect(head.stdout).toContain("a\\u202eb");
    for (const { exitCode, stdout } of [head, stats]) {
      expect(exitCode).toBe(0);
      expect(stdout).toContain("\\x1b[31mred\\x0afield");
      expect(stdout).toContain("t\\x9b");
    }
  });

  it.each(["dataset head data/example.jsonl b nonsense", "dataset stats data/example.jsonl +foo=1"])(
    "reject surplus arguments: %s",
    async (words) => {
      const { exitCode, stdout, stderr } = await gym(words);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
      expect(stderr).toMatch(
        /unrecognized arguments: (b nonsense\. One argument is accepted: FILE|\+foo=1 \(the command reads no config)/,
      );
    },
  );

  it("reject a missing file and a bad number", async () => {
    expect(await gym("dataset head none.jsonl")).toMatchObject({
      exitCode: 1,
      stderr: "Error: Input file not found: 'none.jsonl' (FILE).\n",
    });
    expect(await gym("dataset head data/example.jsonl -n many")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("argument --rows/-n: must be a whole number of at least 0, not 'many'"),
    });
  });

  it("show statistics and fail on bad rows when strict", async () => {
    await put("rows.jsonl", `${row("a b")}{"n": 1}\n`);
    const { exitCode, stdout, stderr } = await gym("dataset stats rows.jsonl");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("rows.jsonl: valid examples: 1");
    expect(stdout).toContain("Distinct user messages: 1");
    expect(stderr).toContain("rows.jsonl:2: responses_create_params: Field required");
    expect((await gym("dataset stats rows.jsonl --strict")).exitCode).toBe(1);
    const json = JSON.parse((await gym("dataset stats rows.jsonl --tokens --json")).stdout);
    expect(json).toMatchObject({
      rows: 2,
      invalid_rows: 1,
      problems: [{ line: 2, path: "responses_create_params", message: "Field required" }],
      metrics: { "Number of examples": 1 },
      tokens: { "Total # non-null values": 1 },
    });
  });
});

describe("the guide", () => {
  it("shows only commands and flags that exist", async () => {
    const guide = await readFile(
      path.resolve(import.meta.dirname, "../../../docs/guide/datasets.md"),
      "utf8",
    );
    const commands = guide.match(/^gym dataset .*$/gm) ?? [];
    expect(commands.length).toBeGreaterThan(10);
    for (const command of commands) {
      const run = await captureRun([...command.split(" ").slice(1), "--help"], { cwd });
      expect({ command, exitCode: run.exitCode, stderr: run.stderr }).toEqual({
        command,
        exitCode: 0,
        stderr: "",
      });
    }
  });
});

describe("gym dataset convert", () => {
  it("shows the first rows, writes all with a report, and finds a split of the hub", async () => {
    await put("quiz.csv", "question,answer\n6*7?,42\nonly\n");
    const shown = await captureRun(["dataset", "convert", "-i", "quiz.csv"], { cwd });
    expect(shown.stdout).toContain("questions with answers (--format question)");
    expect(shown.stdout).toContain("6*7?");
    expect(shown.stderr).toContain("quiz.csv:3: it has 1 cells, but 2 columns have a name");
    const written = await captureRun(["dataset", "convert", "-i", "quiz.csv", "-o", "rows.jsonl", "--json"], {
      cwd,
    });
    expect(JSON.parse(written.stdout)).toMatchObject({ format: "question", converted: 1, rejected: 1 });
    expect(await readFile(path.join(cwd, "rows.jsonl"), "utf8")).toContain('"expected_answer": "42"');
    hub.addRepository("acme/quiz").put("test.jsonl", '{"question": "6*7?", "answer": "42"}\n');
    const remote = await captureRun(["dataset", "convert", "-i", "hub:acme/quiz@test", "-o", "hub.jsonl"], {
      cwd,
    });
    expect(remote).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("1 row from questions") });
  });

  it("does not overwrite its input, and suggests a file", async () => {
    await put("quiz.jsonl", '{"question": "6*7?", "answer": "42"}\n');
    const own = await captureRun(["dataset", "convert", "-i", "quiz.jsonl", "-o", "quiz.jsonl"], { cwd });
    expect(own.stderr).toContain("is the input itself");
    const missing = await captureRun(["dataset", "convert", "-i", "quizz.jsonl"], { cwd });
    expect(missing.stderr).toContain("Did you mean 'quiz.jsonl'?");
  });
});
