import { execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { copyFile, mkdir, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { project, repository, runGym } from "./gym-process.ts";

const TOOL_CALL = ["--resources-server", "example_single_tool_call", "--model-type", "random_model"];
const AGENT = "example_single_tool_call_simple_agent";

type Row = Record<string, unknown>;

const lines = (rows: readonly Row[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const rowsOf = (file: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Row);

async function gym(cwd: string, words: readonly string[], env: Record<string, string> = {}) {
  const { exitCode, stdout, stderr } = await runGym(words, { cwd, env });
  return { exitCode, stdout, stderr, text: stdout + stderr };
}

/** User errors: one clear message with the position, an exit code, no stack, no partial output. */
describe("bad input of gym eval run", () => {
  const good = { responses_create_params: { input: "Is it cold in Bergen?" } };
  const cases: {
    title: string;
    content: string | Uint8Array;
    words?: string[];
    says: RegExp;
    code?: number;
  }[] = [
    {
      title: "a malformed row",
      content: `${JSON.stringify(good)}\n{"a": \n`,
      says: /Error: .*in\.jsonl:2: the line is not JSON/,
    },
    {
      title: "a blank row",
      content: `${JSON.stringify(good)}\n\n${JSON.stringify(good)}\n`,
      says: /in\.jsonl:2: the line is blank/,
    },
    {
      title: "a row that is not an object",
      content: "[1]\n",
      says: /in\.jsonl:1: the row is not a JSON object/,
    },
    {
      title: "NaN",
      content: '{"responses_create_params": {"input": NaN}}\n',
      says: /in\.jsonl:1: the line is not JSON/,
    },
    {
      title: "bytes that are not text",
      content: Buffer.from([0x7b, 0xff, 0x7d, 0x0a]),
      says: /in\.jsonl:1: the line is not valid UTF-8/,
    },
    {
      title: "a byte order mark",
      content: `\uFEFF${JSON.stringify(good)}\n`,
      says: /in\.jsonl:1: the line begins with a byte order mark/,
    },
    {
      title: "a compressed file",
      content: Buffer.from([0x1f, 0x8b, 0x08, 0x00]),
      says: /in\.jsonl:1: the file is compressed with gzip/,
    },
    {
      title: "a row without request",
      content: '{"question": 1}\n',
      says: /in\.jsonl:1: the row has no 'responses_create_params'/,
    },
    {
      title: "an unknown agent",
      content: lines([good, { ...good, agent_ref: { name: "example_single_tool_call_agent" } }]),
      says: /'example_single_tool_call_agent' \(1 row, first at .*in\.jsonl:2; did you mean 'example_single_tool_call_simple_agent'\?\)/,
    },
    {
      title: "an unknown agent on the command line",
      content: lines([good]),
      words: ["--agent", "nobody"],
      says: /'nobody', named by --agent \(agent_name\) \(1 row, .*\nAgents: example_single_tool_call_simple_agent\./,
    },
    {
      title: "a prompt for rows that have their input",
      content: lines([good]),
      words: ["--prompt-config", "prompt.yaml"],
      says: /would overwrite the input that 1 rows/,
    },
    {
      title: "repeats that are not a number",
      content: lines([good]),
      words: ["--num-repeats", "0"],
      says: /gym eval run: error: invalid configuration: num_repeats must be a whole number of at least 1, not 0/,
      code: 2,
    },
    {
      title: "sampling settings of the wrong type",
      content: lines([good]),
      words: ["--temperature", "hot", "--max-output-tokens", "1.5"],
      says: /invalid configuration: responses_create_params\.max_output_tokens \(Input should be a valid integer[^)]*\); responses_create_params\.temperature \(Input should be a valid number[^)]*, not "hot"\)\./,
      code: 2,
    },
    {
      title: "repeats of an unknown agent",
      content: lines([good]),
      words: ["--num-repeats", "{other: 2}"],
      says: /num_repeats has no entry for example_single_tool_call_simple_agent/,
    },
  ];
  it.each(cases)("$title", async ({ content, words = [], says, code = 1 }) => {
    const cwd = await project({ "in.jsonl": content, "prompt.yaml": "user: '{question}'\n" });
    const run = await gym(cwd, [
      "eval",
      "run",
      ...TOOL_CALL,
      "-i",
      "in.jsonl",
      "-o",
      "out/o.jsonl",
      ...words,
    ]);
    expect(run.text).toMatch(says);
    expect(run.text).not.toMatch(/^ +at /m);
    expect(run.exitCode).toBe(code);
    expect(run.text).not.toContain("starting");
    expect(existsSync(path.join(cwd, "out/o.jsonl"))).toBe(false);
    expect(existsSync(path.join(cwd, "out/o.jsonl.lock"))).toBe(false);
  });

  it("an environment that does not exist", async () => {
    const cwd = await project({});
    const run = await gym(cwd, ["eval", "run", "--resources-server", "example_single_tool_cal"]);
    expect(run).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("does not exist") });
    expect(run.stderr).toContain("example_single_tool_call");
  });

  it("a missing model", async () => {
    const run = await gym(await project({}), ["eval", "run", ...TOOL_CALL.slice(0, 3), "openai_model"]);
    expect(run.exitCode).toBe(1);
    expect(run.text).toMatch(
      /policy_base_url, policy_api_key, policy_model_name are missing\.\nGive it with --model-url/,
    );
  });

  it("a file that cannot be read", async () => {
    const cwd = await project({ "in.jsonl/keep": "" });
    const run = await gym(cwd, ["eval", "run", ...TOOL_CALL, "-i", "in.jsonl", "-o", "out.jsonl"]);
    expect(run).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("in.jsonl' is a directory") });
    expect(run.text).not.toContain("starting");
  });

  it("a pipe without a writer", async () => {
    const cwd = await project({});
    execFileSync("mkfifo", [path.join(cwd, "rows")]);
    const run = await gym(cwd, ["eval", "run", ...TOOL_CALL, "-i", "rows", "-o", "out.jsonl"]);
    expect(run).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("'rows' is a pipe, not a file"),
    });
    expect(existsSync(path.join(cwd, "out.jsonl.lock"))).toBe(false);
  });

  it("an output that is a dataset of the config", async () => {
    const data = "resources_servers/example_single_tool_call/data/example.jsonl";
    const cwd = await project({});
    await mkdir(path.join(cwd, path.dirname(data)), { recursive: true });
    await copyFile(path.join(repository, data), path.join(cwd, data));
    const before = readFileSync(path.join(cwd, data), "utf8");
    const run = await gym(cwd, ["eval", "run", ...TOOL_CALL, "-o", data]);
    expect(run).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("would overwrite a dataset of the config"),
    });
    expect(run.text).not.toContain("starting");
    expect(readFileSync(path.join(cwd, data), "utf8")).toBe(before);
    expect(existsSync(path.join(cwd, data.replace(".jsonl", "")))).toBe(false);
  });

  it("a run that is resumed with other settings", async () => {
    const cwd = await project({});
    const words = ["eval", "run", ...TOOL_CALL, "-o", "out.jsonl", "--resume"];
    expect((await gym(cwd, words)).exitCode).toBe(0);
    const other = await gym(cwd, [...words, "--temperature", "0.5"]);
    expect(other.exitCode).toBe(1);
    expect(other.text).toMatch(
      /belongs to another run:\n {2}- collection\.responses_create_params was null, is \{"temperature":0\.5\}/,
    );
    expect(other.text).not.toContain("starting");
  });

  it("an output that is a directory", async () => {
    const cwd = await project({ "out.jsonl/keep": "" });
    const run = await gym(cwd, ["eval", "run", ...TOOL_CALL, "-o", "out.jsonl"]);
    expect(run).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("out.jsonl' is a directory") });
    expect(run.text).not.toContain("starting");
  });

  it("an output in a file, a device, or a file that is not a result", async () => {
    const cwd = await project({ "in.jsonl": lines([good]), "notes.md": "# Notes\n" });
    const run = (output: string) => gym(cwd, ["eval", "run", ...TOOL_CALL, "-o", output]);
    const before = readdirSync(cwd);
    for (const [output, says] of [
      ["notes.md/y.jsonl", /y\.jsonl' cannot be created: '.*notes\.md' is a file, not a directory/],
      ["/dev/full", /'\/dev\/full' is a device, pipe or socket; --output must name a file/],
      ["/dev/stdout", /'\/dev\/stdout' is a device, pipe or socket/],
      ["notes.md", /notes\.md' already exists and contains no results of a run/],
    ] as const) {
      const rejected = await run(output);
      expect(rejected.exitCode).toBe(1);
      expect(rejected.stderr).toMatch(says);
    }
    expect(readdirSync(cwd)).toEqual(before);
    expect(readFileSync(path.join(cwd, "notes.md"), "utf8")).toBe("# Notes\n");
  });

  it("a rejected command over an earlier run, which stays unchanged", { timeout: 60_000 }, async () => {
    const cwd = await project({ "in.jsonl": lines([good]), "empty.jsonl": "" });
    const words = ["eval", "run", "-o", "out.jsonl"];
    const run = await gym(cwd, [...words, ...TOOL_CALL, "-i", "in.jsonl"]);
    expect(run.exitCode, run.text).toBe(0);
    const state = () =>
      readdirSync(cwd, { withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => [name, readFileSync(path.join(cwd, name), "utf8")]);
    const before = state();
    const empty = await gym(cwd, [...words, ...TOOL_CALL, "-i", "empty.jsonl"]);
    expect(empty).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("has no rows") });
    expect(state()).toEqual(before);
    const model = ["--model-type", "openai_model", "--model-url", "localhost:8000", "--model", "m"];
    const mistyped = await gym(cwd, [
      ...words,
      ...TOOL_CALL.slice(0, 2),
      ...model,
      "--model-api-key",
      "key",
      "-i",
      "in.jsonl",
    ]);
    expect(mistyped.exitCode).toBe(1);
    expect(mistyped.text).toContain("begins with 'localhost:'");
    expect(state()).toEqual(before);
    await rm(path.join(cwd, "out_materialized_inputs.jsonl"));
    const lost = await gym(cwd, [...words, ...TOOL_CALL, "-i", "in.jsonl", "--resume"]);
    expect(lost).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("has results, but") });
    expect(state()).toEqual(before.filter(([name]) => name !== "out_materialized_inputs.jsonl"));
    for (const ending of [".previous", ".previous.2"]) {
      const again = await gym(cwd, [...words, ...TOOL_CALL, "-i", "in.jsonl"]);
      expect(again.text).toContain(`out.jsonl${ending}'`);
      expect(rowsOf(path.join(cwd, `out.jsonl${ending}`))).toHaveLength(1);
    }
  });

  it("two runs without --output at the same moment", { timeout: 60_000 }, async () => {
    const cwd = await project({ "in.jsonl": lines([good]) });
    const words = ["eval", "run", ...TOOL_CALL, "-i", "in.jsonl"];
    const runs = await Promise.all([gym(cwd, words), gym(cwd, words)]);
    expect(runs.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    expect(readdirSync(path.join(cwd, "results", AGENT))).toHaveLength(2);
  });

  it("a second run with the same output", { timeout: 60_000 }, async () => {
    const cwd = await project({});
    const slow = "++policy_model.responses_api_models.random_model.latency_ms=700";
    const words = ["eval", "run", ...TOOL_CALL, "-o", "out.jsonl"];
    const first = spawn(process.execPath, [path.join(repository, "bin/gym.js"), ...words, slow], {
      cwd,
      stdio: "ignore",
    });
    const ended = new Promise<number | null>((resolve) => first.once("exit", resolve));
    await until(() => existsSync(path.join(cwd, "out.jsonl.lock")));
    const second = await gym(cwd, words);
    expect(second.exitCode).toBe(1);
    expect(second.stderr).toContain(`in use by process ${first.pid}`);
    expect(second.text).not.toContain("starting");
    expect(await ended).toBe(0);
    expect(rowsOf(path.join(cwd, "out.jsonl"))).toHaveLength(5);
    // A lock whose owner was killed does not block others.
    await writeFile(
      path.join(cwd, "out.jsonl.lock"),
      JSON.stringify({ pid: 2 ** 22 + 7, host: os.hostname(), started: "" }),
    );
    expect((await gym(cwd, words)).exitCode).toBe(0);
  });

  it("a file size limit, and a resume without it", { timeout: 60_000 }, async () => {
    const rows = Array.from({ length: 100 }, (_, number) => ({
      ...good,
      number,
      agent_ref: { name: AGENT },
    }));
    const cwd = await project({ "in.jsonl": lines(rows) });
    const words = ["eval", "run", ...TOOL_CALL, "-i", "in.jsonl", "-o", "out.jsonl"];
    // The shell's limit is in blocks of 1024 bytes; no privilege is needed for it.
    const limited = [
      "-c",
      'ulimit -f 64; exec "$@"',
      "bash",
      process.execPath,
      path.join(repository, "bin/gym.js"),
    ];
    const full = spawn("bash", [...limited, ...words], { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    full.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    expect(await new Promise((resolve) => full.once("close", resolve))).toBe(1);
    expect(said).toMatch(/out\.jsonl' cannot grow: it has reached the largest size allowed/);
    const before = readFileSync(path.join(cwd, "out.jsonl"), "utf8");
    expect(before.length).toBeLessThanOrEqual(64 * 1024);
    expect(before === "" || before.endsWith("\n")).toBe(true);
    const resumed = await gym(cwd, [...words, "--resume"]);
    expect(resumed.stdout).toContain("Coverage: 100 of 100 rollouts scored");
    expect(readFileSync(path.join(cwd, "out.jsonl"), "utf8").startsWith(before)).toBe(true);
  });

  it("a jump of the clock", { timeout: 60_000 }, async () => {
    const cwd = await project({
      // An hour back, a day ahead, a year back: as when a machine wakes up or its clock is adjusted.
      "jump.mjs": `const now = Date.now.bind(Date); let calls = 0;
const jumps = [0, -3_600_000, 86_400_000, -31_536_000_000];
Date.now = () => now() + jumps[calls++ % jumps.length];\n`,
    });
    const slow = "++policy_model.responses_api_models.random_model.latency_ms=50";
    const words = ["eval", "run", ...TOOL_CALL, slow, "-o", "out.jsonl", "--num-repeats", "20", "--json"];
    const run = await gym(cwd, words, { NODE_OPTIONS: `--import ${path.join(cwd, "jump.mjs")}` });
    expect(run.exitCode, run.text).toBe(0);
    expect(rowsOf(path.join(cwd, "out.jsonl"))).toHaveLength(100);
    const events = run.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Row);
    for (const { milliseconds } of events.filter(({ event }) => event === "rollout")) {
      expect(milliseconds).toBeGreaterThanOrEqual(0);
      expect(milliseconds).toBeLessThan(30_000);
    }
    const { progress } = events.at(-1) as { progress: { elapsed_seconds: number; rate: number } };
    expect(progress.elapsed_seconds).toBeGreaterThan(0);
    expect(progress.elapsed_seconds).toBeLessThan(60);
    expect(progress.rate).toBeGreaterThan(0);
  });

  it("a full disk, and a resume after space is free", { timeout: 60_000 }, async () => {
    const cwd = await project({
      "in.jsonl": lines(
        Array.from({ length: 400 }, (_, number) => ({ ...good, number, agent_ref: { name: AGENT } })),
      ),
    });
    const place = path.join(cwd, "small");
    await mkdir(place);
    if (!mounted(place, "size=400k")) return;
    const words = ["eval", "run", ...TOOL_CALL, "-i", "in.jsonl", "-o", "small/out.jsonl"];
    const full = await gym(cwd, words);
    expect(full.exitCode).toBe(1);
    expect(full.text).toMatch(/out\.jsonl' cannot grow: no space is left on the device/);
    const before = readFileSync(path.join(place, "out.jsonl"), "utf8");
    expect(before === "" || before.endsWith("\n")).toBe(true);
    execFileSync("mount", ["-o", "remount,size=20m", place]);
    const resumed = await gym(cwd, [...words, "--resume"]);
    expect(resumed.exitCode, resumed.text).toBe(0);
    expect(resumed.stdout).toContain("Coverage: 400 of 400 rollouts scored");
    expect(readFileSync(path.join(place, "out.jsonl"), "utf8").startsWith(before)).toBe(true);
  });

  it("a read-only directory for the output", async () => {
    const cwd = await project({ "in.jsonl": lines([good]) });
    const nowhere = await gym(cwd, [
      "eval",
      "run",
      ...TOOL_CALL,
      "-i",
      "in.jsonl",
      "-o",
      "/proc/nemo-gym/out.jsonl",
    ]);
    expect(nowhere.exitCode).toBe(1);
    expect(nowhere.stderr).toMatch(/Error: '\/proc\/nemo-gym'? /);
    expect(nowhere.text).not.toContain("starting");
    const place = path.join(cwd, "fixed");
    await mkdir(place);
    if (!mounted(place, "ro")) return;
    const run = await gym(cwd, ["eval", "run", ...TOOL_CALL, "-i", "in.jsonl", "-o", "fixed/new/out.jsonl"]);
    expect(run.exitCode).toBe(1);
    expect(run.stderr).toMatch(/Error: .*fixed\/new' lies on a read-only file system/);
    const export_ = await gym(cwd, ["eval", "aggregate", "-i", "in.jsonl", "-o", "fixed/all.jsonl"]);
    expect(export_.exitCode).toBe(1);
  });
});

/** A small file system, if this user may mount one. */
function mounted(place: string, options: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", place], { stdio: "pipe" });
  } catch {
    console.log("Not permitted to mount a file system: this case is not tested here.");
    return false;
  }
  onTestFinished(() => {
    execFileSync("umount", [place]);
  });
  return true;
}

async function until(condition: () => boolean): Promise<void> {
  for (let waited = 0; !condition(); waited += 50) {
    if (waited > 30_000) throw new Error("nothing happened");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
