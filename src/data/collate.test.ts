import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startHubServer } from "../../tests/support/hub-server.ts";
import { startMlflowServer } from "../../tests/support/mlflow-server.ts";
import { type CollateEvent, type CollateOptions, collate } from "./collate.ts";
import { agentsOf } from "./entry.ts";

const row = (input: string, rest = "") => `{"responses_create_params": {"input": "${input}"}${rest}}\n`;
const example = { name: "example", type: "example", jsonl_fpath: "data/example.jsonl" };
const train = { name: "train", type: "train", jsonl_fpath: "data/train.jsonl", license: "MIT" };

let cwd: string;
let events: CollateEvent[];

beforeEach(async () => {
  cwd = await mkdtemp(path.join(tmpdir(), "gym-collate-"));
  events = [];
});

afterEach(() => rm(cwd, { recursive: true, force: true }));

async function put(name: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(cwd, name)), { recursive: true });
  await writeFile(path.join(cwd, name), text);
}

const read = (name: string) => readFile(path.join(cwd, name), "utf8");
const metrics = async (name: string) => JSON.parse(await read(name)) as Record<string, unknown>;

function run(datasets: unknown[], options: Partial<CollateOptions> = {}) {
  const { agents } = agentsOf([{ name: "shop_agent", datasets }]);
  return collate({
    mode: "example_validation",
    outputDirectory: "out",
    agents,
    cwd,
    roots: [cwd],
    onEvent: (event) => events.push(event),
    ...options,
  });
}

const forTraining = { mode: "train_preparation" } as const;

describe("the golden cases", async () => {
  const file = path.resolve(import.meta.dirname, "../../tests/golden/reference/collate-cases.json");
  const { cases } = JSON.parse(await readFile(file, "utf8")) as {
    cases: {
      id: string;
      input: CollateOptions & {
        files: Record<string, string>;
        agents: { name: string; datasets?: unknown }[];
        output_dirpath: string;
        overwrite_metrics_conflicts?: boolean;
      };
      expected: { error?: unknown; new_or_changed_files: Record<string, string> };
    }[];
  };
  it.each(cases.map((one) => [one.id, one] as const))(
    "%s: the same bytes",
    async (_id, { input, expected }) => {
      for (const [name, text] of Object.entries(input.files)) await put(name, text);
      const outcome = collate({
        mode: input.mode,
        outputDirectory: input.output_dirpath,
        agents: agentsOf(input.agents).agents,
        cwd,
        roots: [cwd],
        overwriteMetricsConflicts: input.overwrite_metrics_conflicts,
        failLate: true,
      });
      if (expected.error === undefined) await outcome;
      else await expect(outcome).rejects.toThrow();
      const written: Record<string, string> = {};
      for (const entry of await readdir(cwd, { recursive: true, withFileTypes: true })) {
        const name = path.relative(cwd, path.join(entry.parentPath, entry.name));
        if (entry.isFile() && (await read(name)) !== input.files[name]) written[name] = await read(name);
      }
      expect(written).toEqual(expected.new_or_changed_files);
    },
  );
});

describe("collate", () => {
  it("returns the files and their rows", async () => {
    await put("data/train.jsonl", row("a") + row("b"));
    await put("data/val.jsonl", row("c"));
    const validation = {
      ...train,
      name: "v",
      type: "validation",
      jsonl_fpath: "data/val.jsonl",
      num_repeats: 3,
    };
    const { files } = await run([validation, train], forTraining);
    expect(files).toEqual([
      {
        type: "train",
        rows: 2,
        file: path.join(cwd, "out/train.jsonl"),
        metricsFile: path.join(cwd, "out/train_metrics.json"),
      },
      {
        type: "validation",
        rows: 3,
        file: path.join(cwd, "out/validation.jsonl"),
        metricsFile: path.join(cwd, "out/validation_metrics.json"),
      },
    ]);
  });

  it("applies the slice before the repeats", async () => {
    await put("data/example.jsonl", ["a", "b", "c", "d"].map((input) => row(input)).join(""));
    await run([{ ...example, start_idx: 1, end_idx: 3, num_repeats: 2 }]);
    expect((await read("out/example.jsonl")).match(/"input": "(.)"/g)).toEqual(
      ["b", "b", "c", "c"].map((input) => `"input": "${input}"`),
    );
    expect(await metrics("out/example_metrics.json")).toMatchObject({ "Number of examples": 4 });
  });

  it("writes numbers, key order, escapes and spacing like Python", async () => {
    const line =
      '{"b":1.0,"7":1e-7,"é":"\\/\\u00e9", "n" : 12345678901234567890,"responses_create_params":{"input":"x"}}';
    await put("data/example.jsonl", `${line}\r\n`);
    await run([example]);
    const agent = '"agent_ref": {"type": "responses_api_agents", "name": "shop_agent"}}\n';
    expect(await read("out/example.jsonl")).toBe(
      '{"b": 1.0, "7": 1e-07, "\\u00e9": "/\\u00e9", "n": 12345678901234567890, ' +
        `"responses_create_params": {"input": "x"}, ${agent}`,
    );
  });

  it("uses the last of repeated keys, and accepts an empty object", async () => {
    await put("data/example.jsonl", '{"k": 1, "k": 2, "responses_create_params": {"input": "x"}}\n{}\n');
    await run([example]);
    const agent = '"agent_ref": {"type": "responses_api_agents", "name": "shop_agent"}}\n';
    expect(await read("out/example.jsonl")).toBe(
      `{"k": 2, "responses_create_params": {"input": "x"}, ${agent}{${agent}`,
    );
  });

  it("reads from any root and writes below the working directory", async () => {
    await put("install/data/example.jsonl", row("a"));
    await run([example], { roots: [cwd, path.join(cwd, "install")] });
    expect(existsSync(path.join(cwd, "data/example_metrics.json"))).toBe(true);
    expect(existsSync(path.join(cwd, "install/data/example_metrics.json"))).toBe(false);
  });

  it("writes nothing without datasets of the mode", async () => {
    await put("data/example.jsonl", row("a"));
    expect(await run([example], forTraining)).toEqual({ datasets: [], files: [] });
    expect(existsSync(path.join(cwd, "out"))).toBe(false);
  });
});

describe("bad rows", () => {
  beforeEach(() =>
    put(
      "data/example.jsonl",
      `${row("good")}{"foo": 1}\n{"responses_create_params": {"input": "x", "seed": 1}}\n`,
    ),
  );

  it("are reported with their line and path, and collated anyway", async () => {
    await run([example]);
    const checked = events.find((event) => event.event === "rows-checked");
    expect(checked?.scan.reports).toEqual([
      { line: 2, problems: [{ path: "responses_create_params", message: "Field required" }] },
      {
        line: 3,
        problems: [{ path: "responses_create_params.seed", message: "Extra inputs are not permitted" }],
      },
    ]);
    expect((await read("out/example.jsonl")).split("\n")).toHaveLength(4);
  });

  it("make a strict run fail before anything is written", async () => {
    await expect(run([example], { strict: true })).rejects.toMatchObject({
      code: "DATASET_ROW_INVALID",
      message: expect.stringContaining("data/example.jsonl: 2 of 3 rows, lines 2-3"),
    });
    expect(await readdir(path.join(cwd, "data"))).toEqual(["example.jsonl"]);
    expect(existsSync(path.join(cwd, "out"))).toBe(false);
  });

  it("that are not JSON make the run fail with their line before anything is written", async () => {
    await put("data/train.jsonl", row("fine"));
    await put("data/val.jsonl", `${row("good")}\n${row("more")}{oops\n`);
    const validation = { ...train, name: "v", type: "validation", jsonl_fpath: "data/val.jsonl" };
    await expect(run([train, validation], forTraining)).rejects.toMatchObject({
      code: "DATASET_ROW_NOT_JSON",
      message: expect.stringMatching(
        /val\.jsonl:2: the line is blank\.\n2 lines cannot be collated:\n- .*val\.jsonl: lines 2, 4\nNothing was written\./,
      ),
    });
    expect(
      (await readdir(cwd, { recursive: true })).filter((name) => /metrics|prepare|out/.test(name)),
    ).toEqual([]);
    await put("data/val.jsonl", row("good") + row("more"));
    expect((await run([train, validation], forTraining)).files).toHaveLength(2);
    await writeFile(path.join(cwd, "data/example.jsonl"), Buffer.from([0x7b, 0xff, 0x0a]));
    await expect(run([example])).rejects.toThrow("example.jsonl:1: the line is not UTF-8 text");
  });

  it("are read from files and not from directories", async () => {
    await rm(path.join(cwd, "data/example.jsonl"));
    await mkdir(path.join(cwd, "data/example.jsonl"));
    await expect(run([example])).rejects.toThrow(
      "'data/example.jsonl' (jsonl_fpath of the example dataset 'example' of shop_agent) is a directory; name a file in it.",
    );
  });

  it("are reported with file and line if a field has mixed types or a reserved name", async () => {
    await put("data/example.jsonl", row("a", ', "k": 1') + row("b", ', "k": "one"'));
    await expect(run([example])).rejects.toThrow(/data\/example\.jsonl:2: The row field 'k' contains text/);
    await put("data/example.jsonl", row("a", ', "number_of_turns": 1'));
    await expect(run([example])).rejects.toThrow(/data\/example\.jsonl:1: The row field 'number_of_turns'/);
  });
});

describe("benchmarks with a prompt config", () => {
  const benchmark = {
    name: "quiz",
    type: "benchmark",
    jsonl_fpath: "quiz.jsonl",
    prepare_script: "prepare.py",
    prompt_config: "p.yaml",
  };

  it("are validated after rendering", async () => {
    await put("p.yaml", "user: 'Q: {question}'\n");
    await put("quiz.jsonl", '{"question": "2+2?"}\n');
    await run([benchmark], { ...forTraining, strict: true });
    expect(await read("out/benchmark.jsonl")).toContain('"content": "Q: 2+2?"');
    await put("quiz.jsonl", '{"other": 1}\n');
    await expect(run([benchmark], { ...forTraining, strict: true })).rejects.toThrow(
      "Invalid rows (strict mode)",
    );
    await expect(run([benchmark], forTraining)).rejects.toThrow(
      "quiz.jsonl:1: The template needs the field 'question'; the row has: other.",
    );
  });

  it("reject rows that already have an input", async () => {
    await put("p.yaml", "user: '{question}'\n");
    await put(
      "quiz.jsonl",
      '{"question": "2+2?"}\n{"question": "?", "responses_create_params": {"input": "x"}}\n',
    );
    await expect(run([benchmark], forTraining)).rejects.toMatchObject({
      code: "DATASET_PROMPT_CONFLICT",
      message: expect.stringContaining("quiz.jsonl:2"),
    });
  });

  it.each(["null", "[]", "5", '"x"'])("reject rows whose parameters are %s", async (params) => {
    await put("p.yaml", "user: Hello\n");
    await put("quiz.jsonl", `{"responses_create_params": {}}\n{"responses_create_params": ${params}}\n`);
    await expect(run([benchmark], forTraining)).rejects.toThrow(
      "quiz.jsonl:2: responses_create_params is not an object",
    );
  });

  it("report a malformed template at the same row as the original", async () => {
    await put("p.yaml", "user: '{'\n");
    await put("quiz.jsonl", "{}\n");
    await expect(run([benchmark], { ...forTraining, failLate: true })).rejects.toThrow("malformed template");
    expect(await read("quiz_prepare.jsonl")).toBe("");
    await rm(path.join(cwd, "quiz_prepare.jsonl"));
    await expect(run([benchmark], forTraining)).rejects.toThrow("malformed template");
    expect(existsSync(path.join(cwd, "quiz_prepare.jsonl"))).toBe(false);
  });

  it("report a missing prompt config", async () => {
    await put("quiz.jsonl", "{}\n");
    await expect(run([benchmark], forTraining)).rejects.toThrow("p.yaml' does not exist");
    await expect(run([benchmark], { ...forTraining, failLate: true })).rejects.toThrow(
      "p.yaml' does not exist",
    );
    expect(existsSync(path.join(cwd, "out/benchmark_metrics.json"))).toBe(true);
    expect(existsSync(path.join(cwd, "out/benchmark.jsonl"))).toBe(false);
  });
});

describe("outputs", () => {
  it("must not overwrite a source, even through a link", async () => {
    await put("data/example.jsonl", row("a"));
    await symlink(path.join(cwd, "data"), path.join(cwd, "linked"));
    for (const outputDirectory of ["data", "linked", path.join(cwd, "data")]) {
      await expect(run([example], { outputDirectory })).rejects.toMatchObject({
        code: "DATASET_OUTPUT_OVERWRITES_SOURCE",
      });
    }
    expect(await readdir(path.join(cwd, "data"))).toEqual(["example.jsonl"]);
    await put("data/a_prepare.jsonl", row("a"));
    await put("data/a.jsonl", row("a"));
    const pair = [
      { ...example, jsonl_fpath: "data/a.jsonl" },
      { ...example, jsonl_fpath: "data/a_prepare.jsonl" },
    ];
    await expect(run(pair)).rejects.toMatchObject({ code: "DATASET_OUTPUT_OVERWRITES_SOURCE" });
  });

  it("conflict with metrics of other data until these are deleted or overwriting is allowed", async () => {
    await put("data/example.jsonl", row("a"));
    await run([example]);
    await put("data/example.jsonl", row("a") + row("b"));
    await expect(run([example])).rejects.toMatchObject({
      code: "DATASET_METRICS_CONFLICT",
      message: expect.stringMatching(/Number of examples: was 1, is 2[\s\S]*rm data\/example_metrics\.json/),
    });
    expect((await read("out/example.jsonl")).trim().split("\n")).toHaveLength(1);
    await run([example], { overwriteMetricsConflicts: true });
    expect(await metrics("data/example_metrics.json")).toMatchObject({ "Number of examples": 2 });
    expect((await read("out/example.jsonl")).trim().split("\n")).toHaveLength(2);
  });

  it("report an invalid metrics file", async () => {
    await put("data/example.jsonl", row("a"));
    await put("data/example_metrics.json", "{");
    await expect(run([example])).rejects.toMatchObject({ code: "DATASET_METRICS_UNREADABLE" });
  });
});

describe("missing datasets", () => {
  const gitlab = { dataset_name: "sums", version: "0.0.1", artifact_fpath: "train.jsonl" };
  const huggingface = { repo_id: "acme/sums", artifact_fpath: "train.jsonl" };
  const retries = { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 };

  it("are listed together", async () => {
    await expect(run([example])).rejects.toThrow(
      "Missing dataset files:\n- data/example.jsonl (example dataset 'example' of shop_agent)",
    );
    await expect(
      run([train, { ...train, name: "more", jsonl_fpath: "x.jsonl" }], forTraining),
    ).rejects.toThrow(
      /- data\/train\.jsonl .*has no 'source'.*\n- x\.jsonl .*\nNone of them can be downloaded\.$/,
    );
    const source = { type: "huggingface", repo_id: "acme/sums" };
    await expect(run([train, { ...train, jsonl_fpath: "x.jsonl", source }], forTraining)).rejects.toThrow(
      /- x\.jsonl \(train dataset 'train' of shop_agent\)\nTurn on --download/,
    );
  });

  it("are downloaded from the registry or the hub", async () => {
    const registry = await startMlflowServer({ token: "glpat-1234" });
    const hub = await startHubServer({ token: "hf_1234" });
    try {
      registry.addFile("sums", "0.0.1", "train.jsonl", row("from the registry"));
      hub.addRepository("acme/sums", { private: true }).put("train.jsonl", row("from the hub"));
      const download = {
        hub: { token: "hf_1234", hubUrl: hub.url, retries },
        registry: { trackingUri: registry.trackingUri, token: "glpat-1234", retries },
        dataSource: "huggingface" as const,
      };
      const collated = async (identifiers: object, access = download) => {
        await rm(path.join(cwd, "data"), { recursive: true, force: true });
        await run([{ ...train, ...identifiers }], {
          ...forTraining,
          download: access,
          overwriteMetricsConflicts: true,
        });
        return read("out/train.jsonl");
      };
      const both = { gitlab_identifier: gitlab, huggingface_identifier: huggingface };
      expect(await collated({ source: { type: "gitlab", ...gitlab } })).toContain("from the registry");
      expect(await collated({ source: { type: "huggingface", ...huggingface } })).toContain("from the hub");
      expect(await collated({ huggingface_identifier: { repo_id: "acme/sums" } })).toContain("from the hub");
      expect(await collated(both)).toContain("from the hub");
      expect(await collated(both, { ...download, dataSource: "gitlab" as never })).toContain(
        "from the registry",
      );
      expect(events.some((event) => event.event === "download-progress")).toBe(true);
    } finally {
      await Promise.all([registry.close(), hub.close()]);
    }
  });

  it.each([
    [train, "has no 'source' to download it from"],
    [{ ...train, source: { type: "huggingface", ...huggingface } }, "hf_token: <your Hugging Face token>"],
    [{ ...train, source: { type: "gitlab", ...gitlab } }, "mlflow_tracking_token: <your GitLab token>"],
    [
      { name: "b", type: "benchmark", jsonl_fpath: "b.jsonl", prepare_script: "p.py" },
      "run 'gym eval prepare'",
    ],
  ])("say what is needed to fetch them: %j", async (entry, message) => {
    const download = { hub: {}, dataSource: "huggingface" as const };
    await expect(run([entry], { ...forTraining, download })).rejects.toThrow(message);
  });

  it("are never downloaded for examples", async () => {
    const download = { hub: { token: "hf_1234" }, dataSource: "huggingface" as const };
    const entry = { ...example, source: { type: "huggingface", ...huggingface } };
    await expect(run([entry], { download })).rejects.toMatchObject({ code: "DATASET_MISSING" });
  });
});

describe("agentsOf", () => {
  it("rejects an agent with an invalid dataset and reports the reason", () => {
    const { agents, rejected } = agentsOf([
      { name: "good", datasets: [example] },
      { name: "bad", datasets: [example, { ...train, license: "Beerware" }] },
      { name: "none" },
      { name: "old", datasets: [{ ...example, huggingface_identifier: { repo_id: "o/d" } }] },
    ]);
    expect(agents.map(({ name }) => name)).toEqual(["good", "none", "old"]);
    expect(rejected).toEqual([{ agent: "bad", problems: [expect.stringContaining("license")] }]);
  });
});

describe("datasets of resources servers", () => {
  const server = (datasets: unknown[], agents: string[]) => agentsOf([{ name: "shop", datasets, agents }]);

  it("belong to the only agent of the server, or to the one they name", () => {
    expect(server([example], ["a"]).agents).toMatchObject([{ name: "a", datasets: [{ name: "example" }] }]);
    expect(server([{ ...example, agent: "b" }], ["a", "b"]).agents).toMatchObject([{ name: "b" }]);
    const problem = (datasets: unknown[], agents: string[]) =>
      server(datasets, agents).rejected[0]?.problems[0];
    expect(problem([example], ["a", "b"])).toMatch(/needs 'agent', because 'shop' has 2 agents: a, b/);
    expect(problem([example], [])).toMatch(/0 agents: none/);
    expect(problem([{ ...example, agent: "c" }], ["a"])).toMatch(/names the agent 'c', .*\(a\)/);
    expect(problem([{ ...example, agent: "a", taskset: "t" }], ["a"])).toMatch(/both 'taskset' and 'agent'/);
  });

  it("become tasks of their taskset, numbered over all datasets of the type", async () => {
    await put("data/example.jsonl", row("a"));
    await put(
      "data/more.jsonl",
      row("b", ', "task_source": "shop", "n": 1.0') + row("c", ', "problem_id": 7'),
    );
    const tasks = { ...example, name: "more", jsonl_fpath: "data/more.jsonl", taskset: "t", num_repeats: 2 };
    const { agents } = server([example, tasks], ["a"]);
    await run([], { agents });
    const params = (input: string) => `"responses_create_params": {"input": "${input}"}`;
    const task = (id: string, input: string) =>
      `{"task_id": {"taskset": "t", "task_id": "${id}"}, "task_input": {${input}}}\n`;
    const second = task("1", `${params("b")}, "n": 1.0`);
    const third = task("7", `${params("c")}, "problem_id": 7`);
    expect(await read("out/example.jsonl")).toBe(
      `{${params("a")}, "agent_ref": {"type": "responses_api_agents", "name": "a"}}\n${second}${second}${third}${third}`,
    );
  });
});
