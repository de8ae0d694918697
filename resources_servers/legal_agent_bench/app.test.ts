import { createJudgedServer, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { matchFiles, outputFiles } from "./deliverables.ts";
import { findVerdict, readVerdict } from "./read-verdict.ts";

const chat = (content: unknown, finish_reason = "stop", more = {}) => ({
  id: "c",
  object: "chat.completion",
  created: 0,
  model: "judge",
  choices: [{ index: 0, finish_reason, message: { role: "assistant", content, ...more } }],
});
const pass = '{"verdict": "pass", "reasoning": "ok"}';
const fail = '{"verdict": "fail", "reasoning": "no"}';
const criterion = { id: "1", title: "T", match_criteria: "M", deliverables: ["memo.md"] };

async function judged(
  replies: readonly (string | object)[],
  {
    config = {},
    files = { "memo.md": "Hello" } as Record<string, string>,
    criteria = [criterion] as object[],
  } = {},
) {
  const { server, prompts, calls } = await createJudgedServer(definition, import.meta.url, replies, {
    ...{ judge_retry_delay_factor: 0, judge_parallelism: 1 },
    ...config,
  });
  const body = verifyBody({ criteria, title: "Task" });
  const { response: _none, ...row } = body;
  await server.post("/seed_session", row);
  for (const [path, content] of Object.entries(files)) await server.post("/write_file", { path, content });
  const reply = await server.verify(body);
  await server.close();
  return { ...reply, prompts, calls };
}

describe("legal_agent_bench", () => {
  it("pays for a task of which every criterion passes, or for the share", async () => {
    const criteria = [criterion, { id: "2", match_criteria: "N" }];
    expect((await judged([chat(pass), chat(pass)], { criteria })).body).toMatchObject({
      reward: 1,
      all_pass: 1,
    });
    expect((await judged([chat(pass), chat(fail)], { criteria })).body).toMatchObject({
      reward: 0,
      n_passed: 1,
    });
    const config = { reward_mode: "criteria_pass_rate" };
    expect((await judged([chat(pass), chat(fail)], { criteria, config })).body).toMatchObject({
      reward: 0.5,
      score: 0,
      criteria_results: [
        { id: "1", verdict: "pass", reasoning: "ok", judge_error: false },
        { id: "2", verdict: "fail", reasoning: "no", judge_error: false },
      ],
    });
  });

  it.each<[string, Record<string, string>]>([
    ["nothing was written", {}],
    ["the file is missing", { "memo.txt": "Hello" }],
    ["only tools wrote files", { "node_modules/memo.md": "Hello" }],
  ])("fails without a call if %s", async (_, files) => {
    const { body, prompts } = await judged([chat(pass)], { files });
    expect(body).toMatchObject({ reward: 0, n_passed: 0 });
    expect(prompts).toEqual([]);
  });

  it.each<[string, (string | object)[]]>([
    ["a reply that was cut off", [chat(pass, "length"), chat(pass)]],
    ["an empty reply", [chat(""), chat(pass)]],
    ["a reply that is no JSON", [chat("I like it"), chat(pass)]],
    ["a verdict in plain words", [chat("verdict: pass"), chat("sorry")]],
    ["a verdict in the reasoning", [chat(null, "stop", { reasoning_content: pass })]],
    ["a reply in parts", [chat([{ type: "text", text: pass }])]],
  ])("reads %s", async (_, replies) => {
    expect((await judged(replies)).body).toMatchObject({ reward: 1, judge_error_count: 0 });
  });

  it("does not pay for a reply without a verdict", async () => {
    const replies = Array.from({ length: 4 }, () => chat("I like it"));
    expect((await judged(replies)).body).toMatchObject({ reward: 0, judge_error_count: 1 });
  });

  it("fails the rollout if the judge fails", async () => {
    expect((await judged([])).body).toMatchObject({ _ng_failure_class: "judge_failed" });
    const config = { failed_judge_scores_zero: true };
    expect((await judged([], { config })).body).toMatchObject({ reward: 0, judge_error_count: 1 });
  });

  it("reads and writes files", async () => {
    const { server } = await createJudgedServer(definition, import.meta.url, []);
    const { response: _none, ...row } = verifyBody({ criteria: [criterion], documents: { "a.txt": "A" } });
    await server.post("/seed_session", row);
    const ask = async (name: string, args: object) => (await server.post(`/${name}`, args)).body;
    expect(await ask("write_file", { path: "./output/x/memo.md", content: "M" })).toEqual({
      written: "x/memo.md",
    });
    expect(await ask("read_file", { path: "output/x/memo.md" })).toEqual({ content: "M" });
    expect(await ask("read_file", { path: "a.txt" })).toEqual({ content: "A" });
    expect((await ask("read_file", { path: "b.txt" })).error).toContain("b.txt");
    expect((await ask("write_file", { path: "../../etc/x", content: "" })).error).toContain("no path");
    expect((await ask("write_file", { path: "big.md", content: "x".repeat(200_001) })).error).toContain(
      "200000",
    );
    for (let file = 1; file < 50; file++) await ask("write_file", { path: `${file}.md`, content: "" });
    expect((await ask("write_file", { path: "last.md", content: "" })).error).toContain("50 files");
    expect(await ask("list_files", {})).toMatchObject({ documents: ["a.txt"] });
    await server.close();
  });

  it("refuses rows without criteria", async () => {
    const { server } = await createJudgedServer(definition, import.meta.url, []);
    for (const criteria of [[], [{ id: "1", title: "t" }]]) {
      const { response: _none, ...row } = verifyBody({ criteria });
      expect((await server.post("/seed_session", row)).status).toBe(422);
    }
    await server.close();
  });
});

describe("matchFiles", () => {
  it.each<[string[], string[], Record<string, string>]>([
    [["memo.md"], ["notes.md", "memo.md"], { "memo.md": "memo.md" }],
    [["x.md", "memo.md"], ["memo.md"], { "memo.md": "memo.md" }],
    [["final memo.md"], ["Final-Memo.MD"], { "final memo.md": "Final-Memo.MD" }],
    [["a b.md", "b c.md"], ["b_c.md", "a-b.md"], { "a b.md": "a-b.md", "b c.md": "b_c.md" }],
    [["memo.md"], ["memo.txt", "output.md"], {}],
    [["memo.md"], ["one.md", "two.md"], {}],
  ])("%j in %j", (names, files, expected) => {
    expect(Object.fromEntries(matchFiles(names, files))).toEqual(expected);
  });

  it("leaves out what tools leave behind", () => {
    const names = [
      "a.md",
      ".git/x",
      ".venv/y",
      "z/venv/y",
      "p.lock",
      "a.map",
      "z/package-lock.json",
      "locked.md",
    ];
    const files = outputFiles(new Map(names.map((name) => [name, ""])));
    expect([...files.keys()]).toEqual(["a.md", "locked.md"]);
  });
});

describe("verdicts", () => {
  it.each([
    [`\`\`\`json\n${pass}\n\`\`\``, true],
    ['{"a": {"b": 1}, "verdict": "PASS"}', true],
    ['{"verdict": "pass "}', false],
    ['{"verdict": true}', false],
    ['{"reasoning": "x"}', false],
    ["[1]", undefined],
    ["{'verdict': 'pass'}", undefined],
  ])("%s as JSON", (reply, passes) => {
    expect(readVerdict(reply)?.passes).toBe(passes);
  });

  it.each([
    ['Verdict : "pass"\nreasoning: "it \\"works\\""', { passes: true, reasoning: 'it "works"' }],
    ['{"verdict": "fail", "reasoning": "cut', { passes: false }],
    ["verdict is pass", undefined],
    ["It says verdict: pass, but my verdict: fail", undefined],
    ["verdict: passable", undefined],
  ])("%s in words", (reply, expected) => {
    const found = findVerdict(reply);
    if (expected) expect(found).toMatchObject(expected);
    else expect(found).toBeUndefined();
  });
});
