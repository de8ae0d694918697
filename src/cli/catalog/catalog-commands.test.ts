import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { captureRun } from "../../../tests/support/captured-run.ts";

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), "gym-list-")));
  for (const [name, text] of Object.entries(FILES)) {
    mkdirSync(path.dirname(path.join(base, name)), { recursive: true });
    writeFileSync(path.join(base, name), text);
  }
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const FILES = {
  "resources_servers/quiz/configs/quiz.yaml": `quiz:
  resources_servers:
    quiz: {entrypoint: app.ts, domain: knowledge, description: Questions, value: Knowing things}
quiz_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      datasets:
      - {name: example, type: example, jsonl_fpath: x.jsonl}
`,
  "resources_servers/tool/configs/tool.yaml": "tool:\n  resources_servers:\n    tool: {entrypoint: app.ts}\n",
  "benchmarks/trivia/config.yaml": `config_paths: [resources_servers/quiz/configs/quiz.yaml]
trivia_agent:
  _inherit_from: quiz_agent
  responses_api_agents:
    simple_agent:
      datasets:
      - {name: night_rows, type: benchmark, jsonl_fpath: x, prepare_script: benchmarks/trivia/prepare.yaml, num_repeats: 4}
`,
  "benchmarks/trivia/prepare.yaml": "about: {rows: 1200, license: MIT, needs: [a judge, HF_TOKEN]}\n",
  "benchmarks/lost/config.yaml": "config_paths: [gone.yaml]\na: {type: benchmark}\n",
  "environments/garden/config.yaml":
    "garden:\n  resources_servers:\n    g: {entrypoint: app.ts, domain: games}\n",
  "responses_api_agents/loop/configs/loop.yaml":
    "a:\n  responses_api_agents:\n    loop: {entrypoint: app.ts, resources_server: {name: x}, description: Loops, " +
    "capabilities: {tools: mcp, multi_turn: true, token_ids: capture}}\n",
  "responses_api_models/gpt/configs/gpt.yaml": "m: 1\n",
  "responses_api_models/gpt/configs/small.yaml": "m: 1\n",
};

const run = (...argv: string[]) => captureRun(argv, { cwd: base, installRoot: base });
const json = async (...argv: string[]) => JSON.parse((await run(...argv, "--json")).stdout);

const row = (name: string, kind: string, domain: string | null, description: string | null) => ({
  name,
  kind,
  selector: name.startsWith("resources_servers/")
    ? `--resources-server ${name.slice(18)}`
    : `--${kind} ${name}`,
  status: "no-manifest",
  domain,
  description,
  version: null,
  integration_profile: null,
  modality: null,
  licensing: null,
  lifecycle: null,
  certificate: null,
});

describe("gym list environments", () => {
  const garden = row("garden", "environment", "games", null);
  const lost = row("lost", "benchmark", null, null);
  const quiz = row("resources_servers/quiz", "environment", "knowledge", "Questions");
  const trivia = row("trivia", "benchmark", "knowledge", "Questions");

  it("shows environments and benchmarks", async () => {
    expect(await json("list", "environments")).toEqual([garden, lost, quiz, trivia]);
    const { stdout, stderr, exitCode } = await run("list", "environments");
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    // A pipe gets plain lines.
    expect(stdout).toBe(
      [
        "garden\tenvironment\tgames\t",
        "quiz\tenvironment\tknowledge\tQuestions",
        "trivia\tbenchmark\tknowledge\tQuestions",
        "lost\tbenchmark\t\t\n",
      ].join("\n"),
    );
  });

  it("filters, and reports how many entries lack the filtered field", async () => {
    expect(await json("list", "environments", "--kind", "environment")).toEqual([garden, quiz]);
    expect(await json("list", "environments", "+catalog_kind=benchmark")).toEqual([lost, trivia]);
    const { stdout, stderr } = await run("list", "environments", "--domain", "games", "--json");
    expect(JSON.parse(stdout)).toEqual([garden]);
    expect(stderr).toBe("Warning: 1 catalog entry has no domain metadata and could not be matched.\n");
    const misspelt = await run("list", "environments", "--domain", "game");
    expect(misspelt.exitCode).toBe(0);
    expect(misspelt.stderr).toMatch(
      /^No entry has domain 'game'\. Did you mean `games`\? There are: .*games/m,
    );
    const none = await run("list", "environments", "--lifecycle", "active");
    expect(none.stdout).toBe("No environments found.\n");
    expect((await run("list", "environments", "--kind", "thing")).exitCode).toBe(2);
  });

  it("shows the details of one entry", async () => {
    const { stdout, exitCode } = await run("list", "environments", "resources_servers/quiz");
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`The resources_servers/quiz environment (domain: knowledge)

Questions
Value: Knowing things

Details:
config: ${base}/resources_servers/quiz/configs/quiz.yaml
status: no-manifest
resources servers: quiz
agent: simple_agent
datasets: example

Usage example:
gym eval run --resources-server quiz --model-type openai_model
`);
    expect((await run("list", "environments", "quiz")).stdout).toBe(stdout);
  });

  it("lists and shows a server without a config", async () => {
    mkdirSync(path.join(base, "resources_servers/plain/data"), { recursive: true });
    writeFileSync(path.join(base, "resources_servers/plain/app.ts"), "");
    writeFileSync(path.join(base, "resources_servers/plain/data/example.jsonl"), "");
    const listed: { name: string }[] = await json("list", "environments");
    expect(listed.map(({ name }) => name)).toContain("resources_servers/plain");
    for (const type of ["environments", "resources-servers"]) {
      const { exitCode, stdout } = await run("list", type, "plain");
      expect(exitCode).toBe(0);
      expect(stdout).toContain(`config: ${base}/resources_servers/plain/app.ts`);
    }
  });

  it("reports names that are unknown or of the other kind", async () => {
    const unknown = await run("list", "environments", "gardn");
    expect(unknown).toEqual({
      exitCode: 1,
      stdout: "Unknown environment 'gardn'. Did you mean `garden`?\n",
      stderr: "",
    });
    const other = await run("list", "benchmarks", "garden");
    expect(other).toEqual({
      exitCode: 1,
      stdout: "'garden' is an environment, not a benchmark. Try `gym list environments garden`.\n",
      stderr: "",
    });
  });
});

describe("gym list benchmarks", () => {
  it("adds agent and repeats, and keeps benchmarks whose config does not resolve", async () => {
    const { stdout, stderr, exitCode } = await run("list", "benchmarks", "+json=true");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual([
      {
        ...row("lost", "benchmark", null, null),
        resources_servers: [],
        agent_name: null,
        num_repeats: null,
        data_rows: null,
        data_license: null,
        needs: [],
      },
      {
        ...row("trivia", "benchmark", "knowledge", "Questions"),
        resources_servers: ["quiz"],
        agent_name: "trivia_agent",
        num_repeats: 4,
        data_rows: 1200,
        data_license: "MIT",
        needs: ["a judge", "HF_TOKEN"],
      },
    ]);
    expect(stderr).toContain(
      "Warning: lost cannot be resolved: config_paths entry 'gone.yaml' was not found",
    );
    const table = await captureRun(["list", "benchmarks"], {
      cwd: base,
      installRoot: base,
      isTty: true,
      env: { COLUMNS: "140", NO_COLOR: "1" },
    });
    expect(table.stdout).toContain("Available benchmarks in NeMo Gym (2)");
    expect(table.stdout).toMatch(
      /│ trivia │ knowledge │ Questions +│ trivia_agent │ 4 +│ 1200 │ MIT +│ a judge, HF_TOKEN │/,
    );
  });

  it("is one plain line for each component in a pipe", async () => {
    const { stdout } = await run("list", "benchmarks");
    expect(stdout.split("\n")).toContain(
      "trivia\tknowledge\tQuestions\ttrivia_agent\t4\t1200\tMIT\ta judge, HF_TOKEN",
    );
    expect(stdout).not.toMatch(/[│┌]|Available/);
  });

  it("runs under its older name", async () => {
    const result = await captureRun(["+json=true"], {
      startedAs: "ng_list_benchmarks",
      cwd: base,
      installRoot: base,
    });
    expect(JSON.parse(result.stdout)).toHaveLength(2);
    expect(result.stderr).toContain("use `gym list benchmarks` instead");
  });

  it("shows the details of one entry", async () => {
    expect(await json("list", "benchmarks", "trivia")).toEqual({
      name: "trivia",
      type: "benchmark",
      domain: "knowledge",
      description: "Questions\nValue: Knowing things",
      details: {
        config: `${base}/benchmarks/trivia/config.yaml`,
        status: "no-manifest",
        "resources servers": "quiz",
        agent: "simple_agent",
        rows: "1,200",
        "licence of the data": "MIT",
        needs: "a judge, HF_TOKEN",
        datasets: "night_rows",
      },
      usage_example: "gym eval run --benchmark trivia --split benchmark --model-type openai_model",
    });
  });
});

describe("gym list agents, models and resources-servers", () => {
  it("lists agents, models and resources servers", async () => {
    expect(await json("list", "agents")).toEqual([
      {
        name: "loop",
        pattern: "A (composable)",
        self_contained: false,
        variants: ["loop"],
        description: "Loops",
        capabilities: { tools: "mcp", multi_turn: true, token_ids: "capture", sandbox: false },
      },
    ]);
    expect((await run("list", "agents")).stdout).toContain(
      "\ttools by MCP, multi-turn, token ids by capture\tLoops",
    );
    expect(await json("list", "models")).toEqual([
      { name: "gpt", model: "gpt", model_group: "gpt" },
      { name: "gpt/small", model: "gpt/small", model_group: "gpt" },
    ]);
    expect(await json("list", "resources-servers")).toEqual([
      { name: "quiz", domain: "knowledge", description: "Questions" },
      { name: "tool", domain: null, description: null },
    ]);
  });

  it("shows the details of each", async () => {
    expect(await json("list", "agents", "loop")).toMatchObject({
      details: {
        path: `${base}/responses_api_agents/loop`,
        composition: "composable (A)",
        can: "tools by MCP, multi-turn, token ids by capture",
        variants: "loop",
      },
      usage_example: null,
    });
    expect(await json("list", "models", "gpt/small")).toMatchObject({
      usage_example: "gym eval run --resources-server example_single_tool_call --model-type gpt/small",
    });
    expect((await run("list", "models", "gtp")).stdout).toBe("Unknown model 'gtp'. Did you mean `gpt`?\n");
    expect((await run("list", "resources-servers", "quiz")).stdout).toContain("Value: Knowing things");
  });

  it("searches further roots first", async () => {
    const extra = path.join(base, "extra");
    mkdirSync(path.join(extra, "resources_servers/quiz/configs"), { recursive: true });
    writeFileSync(
      path.join(extra, "resources_servers/quiz/configs/quiz.yaml"),
      "quiz:\n  resources_servers:\n    quiz: {entrypoint: app.ts, description: Mine}\n",
    );
    const listed = await json("list", "resources-servers", "--search-dir", "extra");
    expect(listed[0]).toEqual({ name: "quiz", domain: null, description: "Mine" });
  });
});

describe("gym search", () => {
  it("searches the catalog by name, domain, description and parts", async () => {
    const names = async (...words: string[]) =>
      (await json("search", ...words)).map(({ name }: { name: string }) => name);
    expect(await names("trivai")).toEqual(["trivia"]);
    expect(await names("night_rows")).toEqual(["trivia"]);
    expect(await names("knowing things")).toEqual(["resources_servers/quiz", "trivia"]);
    expect(await names("benchmarks", "knowledge")).toEqual(["trivia"]);
    expect(await names("agents", "loops")).toEqual(["loop"]);
    expect(await names("models", "smal")).toEqual(["gpt/small"]);
    expect(await names("resources-servers", "nothing like it")).toEqual([]);
  });

  it("reports an empty result and lists the valid types", async () => {
    expect((await run("search", "models", "zzz")).stdout).toBe("No models match 'zzz'.\n");
    const wrong = await run("search", "modles", "zzz");
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain("Did you mean `models`?");
    expect((await run("search")).exitCode).toBe(2);
    expect((await run("search", "word", "problems")).stdout).toContain("match 'word problems'");
    expect((await run("search", "no", "such", "words")).stdout).toContain("match 'no such words'");
    expect((await run("search", "models", "no", "such")).stdout).toBe("No models match 'no such'.\n");
  });
});
