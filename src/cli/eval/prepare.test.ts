import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { captureRun } from "../../../tests/support/captured-run.ts";
import type { HubRepository } from "../../../tests/support/hub-repository.ts";
import { type HubServer, startHubServer } from "../../../tests/support/hub-server.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), "gym-prepare-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(name: string, text: string): void {
  mkdirSync(path.dirname(path.join(base, name)), { recursive: true });
  writeFileSync(path.join(base, name), text);
}
const read = (name: string) => readFileSync(path.join(base, name), "utf8");
const run = (...words: string[]) =>
  captureRun(["eval", "prepare", ...words], { cwd: base, env: { PATH: process.env["PATH"] } });

/** An agent with the datasets given as flow mappings. */
const agent = (name: string, ...datasets: string[]) => `${name}:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      datasets: [${datasets.join(", ")}]
`;
const dataset = (name: string, script = `benchmarks/${name}/prepare.js`) =>
  `{name: ${name}, type: benchmark, jsonl_fpath: benchmarks/${name}/data/rows.jsonl, prepare_script: ${script}}`;

const parquetOf = (count: number) =>
  Buffer.from(
    parquetWriteBuffer({
      columnData: [{ name: "question", data: Array.from({ length: count }, (_, n) => `question ${n}`) }],
    }),
  );

const SCRIPT = `import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
export function prepare(args, context) {
  mkdirSync(path.dirname(context.outputPath), { recursive: true });
  writeFileSync(context.outputPath, JSON.stringify({ question: "q", ...args }) + "\\n");
  return context.outputPath;
}
`;

describe("gym eval prepare", () => {
  it("runs the script of every benchmark with its arguments", async () => {
    write("benchmarks/one/config.yaml", agent("a", dataset("one")) + agent("b", dataset("two")));
    write("benchmarks/one/prepare.js", SCRIPT);
    write("benchmarks/two/prepare.js", SCRIPT);
    const { exitCode, stdout } = await run("--benchmark", "one", "+prepare_script_args={year: 2024}");
    expect(exitCode).toBe(0);
    expect(stdout).toBe("✓ one: benchmarks/one/data/rows.jsonl\n✓ two: benchmarks/two/data/rows.jsonl\n");
    expect(read("benchmarks/one/data/rows.jsonl")).toBe('{"question":"q","year":2024}\n');
  });

  it("runs several scripts concurrently", async () => {
    write("benchmarks/one/config.yaml", agent("a", dataset("one")) + agent("b", dataset("two")));
    write("benchmarks/one/prepare.js", SCRIPT.replace("export function", "export async function"));
    write("benchmarks/two/prepare.js", SCRIPT);
    const { stdout } = await run("--benchmark", "one", "+num_prepare_benchmark_processes=4");
    expect(stdout.trim().split("\n").sort()).toHaveLength(2);
  });

  it("keeps existing files if asked to", async () => {
    write("a.yaml", agent("a", dataset("one")));
    write("benchmarks/one/prepare.js", SCRIPT);
    write("benchmarks/one/data/rows.jsonl", "mine\n");
    const words = ["--config", "a.yaml", "+use_cached_prepared_benchmarks=true"];
    expect((await run(...words)).stdout).toBe("✓ one: benchmarks/one/data/rows.jsonl (already exists)\n");
    expect(read("benchmarks/one/data/rows.jsonl")).toBe("mine\n");
  });

  it("runs under its older name", async () => {
    write("a.yaml", agent("a", dataset("one")));
    write("benchmarks/one/prepare.js", SCRIPT);
    const result = await captureRun(["+config_paths=[a.yaml]"], {
      startedAs: "ng_prepare_benchmark",
      cwd: base,
      env: {},
    });
    expect(result.exitCode).toBe(0);
    expect(result.stderr).toContain("use `gym eval prepare` instead");
  });

  it("checks all scripts before it runs one, and reports all problems together", async () => {
    write("a.yaml", ["one", "two", "three", "four"].map((name) => agent(name, dataset(name))).join(""));
    write("benchmarks/one/prepare.js", SCRIPT);
    write("benchmarks/two/prepare.js", "export const prepared = 1;\n");
    write("benchmarks/three/prepare.js", "throw new Error('broken file');\n");
    const { exitCode, stderr } = await run("--config", "a.yaml");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("  - two: ");
    expect(stderr).toContain("exports no function 'prepare'");
    expect(stderr).toContain("three/prepare.js cannot be loaded: broken file");
    expect(stderr).toContain("four/prepare.js does not exist.");
    expect(existsSync(path.join(base, "benchmarks/one/data"))).toBe(false);
  });

  it("names an agent with two benchmarks, or the instances if no benchmark is found", async () => {
    write("a.yaml", agent("busy", dataset("one"), dataset("two")));
    expect((await run("--config", "a.yaml")).stderr).toContain(
      "Agent 'busy' has 2 benchmark datasets ('one', 'two'), but an agent can have only one.",
    );
    write("b.yaml", agent("idle"));
    const none = await run("--config", "b.yaml");
    expect(none.exitCode).toBe(1);
    expect(none.stderr).toContain(
      "Instances: idle, policy_model. Name a benchmark, for example: gym eval prepare --benchmark",
    );
  });

  it("rejects an output that the config does not read, and reports errors of a script", async () => {
    write("a.yaml", agent("a", dataset("one")));
    write("benchmarks/one/prepare.js", 'export const prepare = () => "elsewhere.jsonl";\n');
    expect((await run("--config", "a.yaml")).stderr).toContain(
      `gave ${base}/elsewhere.jsonl, but the config reads ${base}/benchmarks/one/data/rows.jsonl.`,
    );
    write(
      "benchmarks/two/prepare.js",
      'export const prepare = () => { throw new Error("no such year"); };\n',
    );
    write("b.yaml", agent("a", dataset("two")));
    const { stderr } = await run("--config", "b.yaml");
    expect(stderr).toContain("two/prepare.js failed: no such year");
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it("runs Python scripts unchanged", async () => {
    write("a.yaml", agent("a", dataset("one", "benchmarks/one/prepare.py")));
    write(
      "benchmarks/one/prepare.py",
      `import json
from pathlib import Path

OUTPUT = Path(__file__).parent / "data" / "rows.jsonl"


def prepare(year: int = 0) -> Path:
    OUTPUT.parent.mkdir(exist_ok=True)
    OUTPUT.write_text(json.dumps({"year": year}) + "\\n")
    print("Wrote 1 row")
    return OUTPUT
`,
    );
    const { exitCode, stderr, stdout } = await run("--config", "a.yaml", "+prepare_script_args.year=7");
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "Wrote 1 row\n" });
    expect(stdout).toBe("✓ one: benchmarks/one/data/rows.jsonl\n");
    expect(read("benchmarks/one/data/rows.jsonl")).toBe('{"year": 7}\n');
    const wrong = await run("--config", "a.yaml", "+prepare_script_args.month=7");
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toContain("unexpected keyword argument 'month'");
  });

  it("uses prepare.ts if a config of the original names prepare.py", async () => {
    write("a.yaml", agent("a", dataset("one", "benchmarks/one/prepare.py")));
    write(
      "benchmarks/one/prepare.ts",
      SCRIPT.replace("(args, context)", "(args: object, context: { outputPath: string }): string"),
    );
    expect((await run("--config", "a.yaml")).stdout).toBe("✓ one: benchmarks/one/data/rows.jsonl\n");
  });
});

describe("a prepare script that misbehaves", () => {
  /** Runs a script with this body. */
  const runScript = (body: string, words: string[] = [], signal?: AbortSignal) => {
    write("a.yaml", agent("a", dataset("one")));
    write("benchmarks/one/prepare.js", `import { writeFileSync, mkdirSync } from "node:fs";\n${body}`);
    return captureRun(["eval", "prepare", "--config", "a.yaml", ...words], { cwd: base, env: {}, signal });
  };

  it.each([
    ["waits forever", "export const prepare = () => new Promise(() => setInterval(() => {}, 50));"],
    ["computes forever", "export const prepare = () => { for (;;); };"],
    ["computes forever while it is loaded", "for (;;); export const prepare = 1;"],
  ])("is ended by the first signal if it %s", async (_what, body) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error("received SIGINT")), 700);
    const { exitCode, stderr } = await runScript(body, [], controller.signal);
    expect({ exitCode, stderr }).toEqual({ exitCode: 130, stderr: "Interrupted.\n" });
  });

  it("treats process.exit() as a failure", async () => {
    const { exitCode, stderr } = await runScript("export const prepare = () => process.exit(0);");
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      "one/prepare.js ended the program before `prepare` gave a path (process.exit?).",
    );
  });

  it("detects that it ended while it waited for its turn", async () => {
    write(
      "benchmarks/two/prepare.js",
      "setTimeout(() => process.exit(0), 1); export const prepare = () => 1;",
    );
    write("a.yaml", agent("a", dataset("one")) + agent("b", dataset("two")));
    write(
      "benchmarks/one/prepare.js",
      SCRIPT.replace("export function", "export async function").replace(
        "  return",
        "  await new Promise((resolve) => setTimeout(resolve, 1500));\n  return",
      ),
    );
    const { exitCode, stderr } = await run("--config", "a.yaml");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("two/prepare.js ended the program");
  });

  it("passes its output on, and warns about rows without fields", async () => {
    const { exitCode, stderr, stdout } = await runScript(
      `export function prepare(args, { outputPath, writeRows }) { console.log("half way"); return writeRows([{ a: 1 }, {}]); }`,
      ["--json"],
    );
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      `half way\nWarning: one: ${base}/benchmarks/one/data/rows.jsonl, row 2 has no fields.\n`,
    );
    expect(JSON.parse(stdout)).toEqual({
      prepared: [{ benchmark: "one", file: `${base}/benchmarks/one/data/rows.jsonl` }],
    });
  });

  it("rejects arguments that the script does not read, before rows are written", async () => {
    const body =
      "export const prepare = ({ source }, { writeRows }) => writeRows([{ source: source ?? 1 }]);";
    const { exitCode, stderr } = await runScript(body, ["+prepare_script_args.souce=x"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(
      "one: the prepare script does not read prepare_script_args.souce; it reads source. Did you mean `source`?",
    );
    expect(existsSync(path.join(base, "benchmarks/one/data/rows.jsonl"))).toBe(false);
    const key = await runScript(body, ["+prepare_script_arg.source=x"]);
    expect(key.exitCode).toBe(2);
    expect(key.stderr).toContain("Did you mean `prepare_script_args`?");
  });

  it("reports the problem of a source", async () => {
    const body =
      "export const prepare = ({ source }, { readRows, writeRows }) => writeRows(readRows(source));";
    const missing = await runScript(body, [`+prepare_script_args.source=${base}/nowhere.jsonl`]);
    expect(missing.stderr).toContain(`The source ${base}/nowhere.jsonl does not exist.`);
    const folder = await runScript(body, [`+prepare_script_args.source=${base}`]);
    expect(folder.stderr).toContain(`The source ${base} is a folder; name the file in it`);
  });
});

/** Prepares the 200 rows of a dataset of the hub after a change to the dataset or to the hub. */
async function prepareSums(spoil: (hub: HubServer, repo: HubRepository) => void) {
  const hub = await startHubServer({ lfsFromBytes: 1e9 });
  try {
    const repo = hub.addRepository("acme/sums");
    repo.put("data/train.parquet", parquetOf(200));
    spoil(hub, repo);
    write("benchmarks/sums/config.yaml", agent("a", dataset("sums", "benchmarks/sums/prepare.yaml")));
    write(
      "benchmarks/sums/prepare.yaml",
      "about: {license: MIT}\nsource: {hub: acme/sums}\nfields: {question: = question}\nexpect: 200\n",
    );
    return await captureRun(["eval", "prepare", "--benchmark", "sums"], {
      cwd: base,
      env: { HF_ENDPOINT: hub.url },
    });
  } finally {
    await hub.close();
  }
}

describe("gym eval prepare with a prepare.yaml", () => {
  it("works without a network, and warns that the rows are not the real ones", async () => {
    const { exitCode, stderr } = await run("--benchmark", "gsm8k");
    expect(exitCode).toBe(0);
    expect(stderr).toContain("gsm8k: using the included rows, which are not the benchmark.");
    expect(read("benchmarks/gsm8k/data/gsm8k_benchmark.jsonl").trim().split("\n")).toHaveLength(10);
  });

  it.each([
    [30, 0],
    [29, 1],
  ])("downloads the published rows; %i of 30 end with exit code %i", async (count, code) => {
    const hub = await startHubServer();
    try {
      const repo = hub.addRepository("HuggingFaceH4/aime_2024");
      const row = `${JSON.stringify({ problem: "p", answer: "073" })}\n`;
      repo.put("data/train.jsonl", row.repeat(count));
      const result = await captureRun(
        ["eval", "prepare", "--benchmark", "aime24", "+prepare_script_args.source=original"],
        { cwd: base, env: { HF_ENDPOINT: hub.url } },
      );
      expect(result.stderr).toContain("aime24: downloading the split 'train' of HuggingFaceH4/aime_2024\n");
      expect(result.exitCode).toBe(code);
      const file = "benchmarks/aime24/data/aime24_benchmark.jsonl";
      if (code === 0) expect(read(file)).toBe('{"question": "p", "expected_answer": "073"}\n'.repeat(30));
      else {
        expect(result.stderr).toContain("the sources give 29 rows, but 30 are expected");
        expect(existsSync(path.join(base, file))).toBe(false);
      }
    } finally {
      await hub.close();
    }
  });

  it.each<[string, (hub: HubServer, repo: HubRepository) => void, RegExp]>([
    [
      "a repository that does not exist",
      (hub) => hub.repositories.clear(),
      /The dataset 'acme\/sums' does not exist, is private, or is gated.*no token was sent: set hf_token/,
    ],
    [
      "a gated repository without a token",
      (hub) =>
        hub.fail({
          match: /resolve/,
          status: 403,
          body: { error: "Access to dataset acme/sums is restricted." },
        }),
      /403.*is restricted.*gated, accept its terms at http:.*datasets\/acme\/sums; no token was sent: set hf_token/,
    ],
    [
      "a truncated parquet file",
      (_, repo) => repo.put("data/train.parquet", parquetOf(200).subarray(0, 900)),
      /train\.parquet.*(?:parquet|cannot be read)/,
    ],
    [
      "a source that changed",
      (_, repo) => repo.put("data/train.parquet", parquetOf(199)),
      /the sources give 199 rows, but 200 are expected/,
    ],
  ])("ends with a clear error and no half file: %s", async (_, spoil, message) => {
    const { exitCode, stderr } = await prepareSums(spoil);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(exitCode).toBe(1);
    expect(existsSync(path.join(base, "benchmarks/sums/data/rows.jsonl"))).toBe(false);
  });

  it("continues a download whose connection breaks", async () => {
    const { exitCode, stderr } = await prepareSums((hub) =>
      hub.fail({ match: /^GET .*resolve/, breakAfterBytes: 400, times: 2 }),
    );
    expect(stderr).toMatch(/The transfer was interrupted: .*\. Retrying in /);
    expect(exitCode).toBe(0);
    expect(read("benchmarks/sums/data/rows.jsonl").trim().split("\n")).toHaveLength(200);
  });

  it("rejects arguments that the file does not declare, with the nearest name", async () => {
    const { exitCode, stderr } = await run(
      "--benchmark",
      "mmlu",
      "+prepare_script_args={splt: dev, source: original}",
    );
    expect(exitCode).toBe(1);
    expect(stderr).toContain("there is no argument 'splt'; it has split; did you mean 'split'?");
  });
});
