import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadPromptConfig } from "../../data/prompt-config.ts";
import { artifactPaths, sidecarPath } from "../../records/files/artifact-paths.ts";
import type { Row } from "../../records/files/jsonl-rows.ts";
import { type ExpandOptions, expandRows, materializeInputs } from "./expand.ts";
import { loadSkills } from "./skills.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "expand-"));
});
afterEach(() => rm(directory, { recursive: true }));

const file = async (name: string, content: string): Promise<string> => {
  const path = join(directory, name);
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(path, content);
  return path;
};

async function expanded(content: string, options: Partial<ExpandOptions> = {}): Promise<Row[]> {
  const inputPath = await file("in.jsonl", content);
  const rows: Row[] = [];
  for await (const { row } of expandRows({ inputPath, agentName: "bob", ...options })) rows.push(row);
  return rows;
}

const line = (input: string, rest = "") => `{"responses_create_params": {"input": "${input}"}${rest}}\n`;
const keys = (rows: Row[]) => rows.map((row) => [row["_ng_task_index"], row["_ng_rollout_index"]]);

describe("expandRows", () => {
  it("says that the command line named an agent that is not running", async () => {
    const rejected = expanded(line("a"), { agentName: "bob", knownAgents: ["eve"] });
    await expect(rejected).rejects.toThrow(/'bob', named by --agent \(agent_name\) \(1 row/);
  });

  it("goes over all tasks before the next repeat", async () => {
    const content = line("a") + line("b", ', "agent_ref": {"name": "eve"}') + line("a");
    const repeats = { eve: 3, _default: 2 };
    const deep = await expanded(content, { repeats });
    const broad = await expanded(content, { repeats, repeatOrder: "breadth" });
    expect(keys(broad)).toEqual([
      [0, 0],
      [1, 0],
      [0, 2],
      [0, 1],
      [1, 1],
      [0, 3],
      [1, 2],
    ]);
    const sorted = (rows: Row[]) => rows.map((row) => JSON.stringify(row)).sort();
    expect(sorted(broad)).toEqual(sorted(deep));
  });

  it("finds agents by task source, and runs copies with several", async () => {
    const from = (source: string) => line(source, `, "task_source": "${source}"`);
    const agentsOf = async (options: Partial<ExpandOptions>) =>
      (
        await expanded(line("own", ', "agent_ref": {"name": "eve"}') + from("quiz") + from("math"), options)
      ).map((row) => (row["agent_ref"] as Row)["name"]);
    const free = { agentName: null, agentOfSource: (source: string) => `${source}_agent` };
    expect(await agentsOf(free)).toEqual(["eve", "quiz_agent", "math_agent"]);
    expect(await agentsOf({ ...free, agentMap: { quiz: "ann" } })).toEqual(["eve", "ann", "math_agent"]);
    expect(await agentsOf({ ...free, agentMap: { eve: "ann", _default: "cid" } })).toEqual([
      "ann",
      "cid",
      "cid",
    ]);
    const fanned = { ...free, fanOut: { quiz: ["ann", "bob"] } };
    expect(await agentsOf(fanned)).toEqual(["eve", "ann", "bob", "math_agent"]);
    const repeats = { ann: 2, quiz: 1, math: 3, _default: 1 };
    expect(await agentsOf({ ...fanned, repeats })).toEqual([
      "eve",
      "ann",
      "ann",
      "bob",
      ...Array(3).fill("math_agent"),
    ]);
    const copies = await expanded(from("quiz"), { ...fanned, repeats });
    expect(keys(copies)).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
    ]);
  });

  it("repeats tasks by their taskset, or by their environment server", async () => {
    const task = (taskset: string) =>
      `{"task_id": {"taskset": "${taskset}", "task_id": "1"}, "task_input": {}, "_ng_environment_server": "env"}\n`;
    const rows = await expanded(task("letters") + task("words"), {
      agentName: null,
      repeats: { letters: 3, env: 2 },
    });
    expect(keys(rows)).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 0],
      [1, 1],
    ]);
  });

  it("numbers tasks by their text and rollouts by their task", async () => {
    const rows = await expanded(line("a") + line("b") + line("a"), { repeats: 2 });
    expect(keys(rows)).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
      [1, 1],
      [0, 2],
      [0, 3],
    ]);
  });

  it("ignores the kind of newline, but distinguishes a line without one", async () => {
    const unix = '{"responses_create_params": {}}';
    expect(keys(await expanded(`${unix}\n${unix}\r\n${unix}`))).toEqual([
      [0, 0],
      [0, 1],
      [1, 0],
    ]);
  });

  it("uses given task indices, also when they equal derived ones", async () => {
    const rows = await expanded(line("a") + line("b", ', "_ng_task_index": 0, "_ng_rollout_index": 7'));
    expect(keys(rows)).toEqual([
      [0, 0],
      [0, 1],
    ]);
    await expect(expanded(line("a", ', "_ng_task_index": "x"'))).rejects.toThrow(
      /in\.jsonl:1: '_ng_task_index'/,
    );
  });

  it("keeps numbers and key order as they were written", async () => {
    const path = await file(
      "in.jsonl",
      '{"z": 1.0, "responses_create_params": {"temperature": 1.0}, "10": 12345678901234567890, "2": 1e-7}\n',
    );
    const target = join(directory, "out.jsonl");
    const report = await materializeInputs(
      { inputPath: path, agentName: "bob", overrides: { top_p: 0.5 } },
      target,
    );
    expect(await readFile(target, "utf8")).toBe(
      '{"z":1.0,"responses_create_params":{"temperature":1.0,"top_p":0.5},"10":12345678901234567890,"2":1e-7,' +
        '"agent_ref":{"name":"bob"},"_ng_task_index":0,"_ng_rollout_index":0}\n',
    );
    expect(report).toMatchObject({ rows: 1, tasks: 1 });
  });

  it("reports all rows without an agent together, with their positions", async () => {
    const content =
      line("a") + line("b", ', "agent_ref": {"name": "x"}') + line("c") + line("d", ', "agent_ref": null');
    await expect(expanded(content, { agentName: null })).rejects.toThrow(
      /3 rows .* at positions 0, 2-3 \(counted from 0\)/,
    );
    await expect(expanded(line("a", ', "agent_ref": {}'))).rejects.toThrow(/1 rows/);
  });

  it("reports agents without repeats together, and warns of unused entries", async () => {
    const content = line("a", ', "agent_ref": {"name": "z"}') + line("b", ', "agent_ref": {"name": "x"}');
    await expect(expanded(content, { repeats: { y: 2 } })).rejects.toThrow(
      /no entry for x, z and no '_default'/,
    );
    const warnings: string[] = [];
    const rows = await expanded(content, {
      repeats: { y: 2, _default: 1 },
      onWarning: (text) => warnings.push(text),
    });
    expect(rows).toHaveLength(2);
    expect(warnings).toEqual(["num_repeats has names that no row has: y."]);
  });

  it.each([[0], [1.5], [-1], [{ a: 0 }]])("rejects %j repeats", async (repeats) => {
    await expect(expanded(line("a"), { repeats: repeats as number })).rejects.toThrow(
      /whole number of at least 1/,
    );
  });

  it("adds seeds to the extra body", async () => {
    const content =
      '{"responses_create_params": {"metadata": {"extra_body": "{\\"seed\\": 9, \\"é\\": 1.0}"}}}\n';
    const rows = await expanded(content, { addSeed: true, repeats: 2 });
    expect(rows.map((row) => (row["responses_create_params"] as Row)["metadata"])).toEqual([
      { extra_body: '{"seed": 0, "\\u00e9": 1.0}' },
      { extra_body: '{"seed": 1, "\\u00e9": 1.0}' },
    ]);
  });

  it.each([
    ['{"metadata": null}', /'metadata' is not an object/],
    ['{"metadata": {"extra_body": "x"}}', /extra_body' is not JSON/],
    ['{"metadata": {"extra_body": "[]"}}', /extra_body' is not an object/],
    ['{"metadata": {"extra_body": {}}}', /extra_body' is not a text/],
  ])("refuses to add a seed to %s", async (params, message) => {
    await expect(expanded(`{"responses_create_params": ${params}}\n`, { addSeed: true })).rejects.toThrow(
      message,
    );
  });

  it("names all rows whose input a prompt config would overwrite", async () => {
    const promptConfig = await loadPromptConfig(await file("p.yaml", "user: '{q}'\n"));
    const content = `${line("a")}{"q": 1}\n${line("b")}${line("c")}`;
    await expect(expanded(content, { promptConfig })).rejects.toThrow(/3 rows .* positions 0, 2-3/);
  });

  it("names file, line, template and field when a row lacks a field", async () => {
    const promptConfig = await loadPromptConfig(await file("p.yaml", "user: '{q}'\nsystem: Be brief.\n"));
    expect(
      (await expanded('{"q": [1.0, null]}\n', { promptConfig }))[0]?.["responses_create_params"],
    ).toEqual({
      input: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "[1.0, None]" },
      ],
    });
    await expect(expanded('{"q": 1}\n{"r": 1}\n', { promptConfig })).rejects.toThrow(
      /in\.jsonl:2: .*p\.yaml: The template needs the field 'q'; the row has: r/,
    );
  });

  it.each([
    ["user: a\nuser: '{q}'\n", "1"],
    ["user: 1e3\n", "1e3"],
    ["5: x\nuser: |\n  {q}\n  more\n", "1\nmore\n"],
  ])("reads %j as PyYAML does", async (yaml, content) => {
    const promptConfig = await loadPromptConfig(await file("p.yaml", yaml));
    const [row] = await expanded('{"q": 1}\n', { promptConfig });
    expect(row?.["responses_create_params"]).toEqual({ input: [{ role: "user", content }] });
  });

  it("keeps an empty system message and drops a null one", async () => {
    const roles = async (yaml: string) => {
      const promptConfig = await loadPromptConfig(await file("p.yaml", yaml));
      const [row] = await expanded('{"q": 1}\n', { promptConfig });
      return row?.["responses_create_params"];
    };
    const user = { role: "user", content: "1" };
    expect(await roles("user: '{q}'\nsystem: ''\n")).toEqual({
      input: [{ role: "system", content: "" }, user],
    });
    expect(await roles("user: '{q}'\nsystem: null\n")).toEqual({ input: [user] });
  });

  it.each([
    ["system: x\n", /needs a text under 'user'/],
    ["user: [a]\n", /needs a text under 'user'/],
    ["user: a\nsystem: 5\n", /'system' that is not text/],
    ["user: '{'\n", /malformed template under 'user'/],
    ["a: b: c\n", /cannot be read/],
  ])("rejects the prompt config %j", async (content, message) => {
    await expect(loadPromptConfig(await file("p.yaml", content))).rejects.toThrow(message);
    await expect(loadPromptConfig(join(directory, "none.yaml"))).rejects.toThrow(/does not exist/);
  });

  it("adds skills with a hash over their files", async () => {
    await file("skills/b/SKILL.md", "---\nname: beta\n---\ntext\n");
    await file("skills/a/SKILL.md", "---\nname: alpha\ndescription: first\nmetadata:\n  version: '2'\n---\n");
    await file("skills/a/x/data.bin", "\0");
    const skills = await loadSkills(join(directory, "skills"), "skills");
    expect(skills).toEqual({
      path: "skills",
      hash: expect.stringMatching(/^[0-9a-f]{12}$/),
      skills: [
        { name: "alpha", description: "first", version: "2" },
        { name: "beta", description: null, version: null },
      ],
    });
    const [row] = await expanded(line("a"), { skills });
    expect(Object.keys(row ?? {})).toEqual([
      "responses_create_params",
      "agent_ref",
      "skills_ref",
      "_ng_task_index",
      "_ng_rollout_index",
    ]);
    await file("skills/a/x/data.bin", "1");
    expect((await loadSkills(join(directory, "skills"))).hash).not.toBe(skills.hash);
  });

  it.each([["no front matter"], ["---\ndescription: x\n---\n"], ["---\na: b: c\n---\n"]])(
    "rejects the skill %j",
    async (content) => {
      await file("skills/a/SKILL.md", content);
      await expect(loadSkills(join(directory, "skills"))).rejects.toMatchObject({ code: "ROLLOUT_SKILLS" });
      await expect(loadSkills(join(directory, "none"))).rejects.toMatchObject({ code: "ROLLOUT_SKILLS" });
    },
  );

  it("writes no file when a row is invalid", async () => {
    const inputPath = await file("in.jsonl", `${line("a")}{"responses_create_params": []}\n`);
    const target = join(directory, "out.jsonl");
    await expect(materializeInputs({ inputPath, agentName: "bob" }, target)).rejects.toThrow(
      /in\.jsonl:2: .* not an object/,
    );
    await expect(readFile(target)).rejects.toThrow();
  });
});

describe("names", () => {
  it("replaces the last suffix", () => {
    expect(sidecarPath("res/run.v2.json", "_failures", ".jsonl")).toBe("res/run.v2_failures.jsonl");
    expect(artifactPaths("res/out").materializedInputs).toBe("res/out_materialized_inputs.jsonl");
    expect(artifactPaths("/a/.hidden").manifest).toBe("/a/.hidden_manifest.json");
  });
});
