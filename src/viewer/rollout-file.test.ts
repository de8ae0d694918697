import { appendFile, mkdtemp, rm, truncate, unlink, utimes, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { scanDataset } from "../datasets/scan-dataset.ts";
import { metricsContent } from "../datasets/statistics/metrics-file.ts";
import { messageItem, verifyBody } from "../hosting/response-items.ts";
import { dumps } from "../python/json/json-dumps.ts";
import { RolloutFile } from "./rollout-file.ts";

const row = (task: number, rollout: number, more: Record<string, unknown> = {}) =>
  JSON.stringify({
    ...verifyBody(
      { responses_create_params: { input: `question ${task}` } },
      messageItem(`answer ${rollout}`),
    ),
    reward: rollout,
    _ng_task_index: task,
    _ng_rollout_index: rollout,
    agent_ref: { name: "solver" },
    ...more,
  });

async function fileWith(content: string) {
  const directory = await mkdtemp(path.join(os.tmpdir(), "viewer-"));
  const name = path.join(directory, "rollouts.jsonl");
  await writeFile(name, content);
  const file = new RolloutFile(name);
  onTestFinished(async () => {
    await file.close();
    await rm(directory, { recursive: true });
  });
  await file.update();
  return file;
}

describe("RolloutFile", () => {
  it("keeps place and summary of every row and reads single ones again", async () => {
    const lines = [row(0, 0), row(3, 1, { mask_sample: true }), "[1]", "{", ""];
    const file = await fileWith(`${lines.join("\n")}\n`);
    const { columns } = file;
    expect(columns.length).toBe(5);
    expect(lines.map((_, place) => columns.state(place))).toEqual([
      "ok",
      "ok",
      "unreadable",
      "unreadable",
      "unreadable",
    ]);
    expect(columns.texts(4)?.problem).toBe("the line is blank");
    expect(columns.task.at(1)).toBe(3);
    expect(columns.reward.at(1)).toBe(1);
    expect(columns.masked(1)).toBe(true);
    expect(columns.agents.name(columns.agent.at(1))).toBe("solver");
    expect(columns.texts(1)).toEqual({ responseId: "resp_test", prompt: "question 3", answer: "answer 1" });
    expect((await file.read(1)).toString()).toBe(lines[1]);
    expect((await file.read(1, 10)).toString()).toBe(lines[1]?.slice(0, 10));
    expect((await file.summary(1)).prompt).toBe("question 3");
  });

  it("says what keeps a row from being a verify response", async () => {
    const file = await fileWith(
      `${row(0, 0, { response: undefined })}\n${row(0, 1, { reward: "high" })}\n${row(0, 2, { responses_create_params: { input: 5 } })}\n`,
    );
    expect([0, 1, 2].map((place) => file.columns.state(place))).toEqual(["invalid", "invalid", "invalid"]);
    expect(file.columns.texts(0)?.problem).toBe("response: Field required");
    expect(file.columns.texts(1)?.problem).toMatch(/^reward: Input should be a valid number/);
    expect(file.columns.texts(2)?.problem).toMatch(/^responses_create_params/);
    const failed = await fileWith(`${row(0, 0, { response: undefined, _ng_failure_class: "timeout" })}\n`);
    expect(failed.columns.state(0)).toBe("ok");
  });

  it("follows a file that grows, in whatever pieces", async () => {
    const file = await fileWith("");
    const whole = `${row(0, 0)}\n${row(0, 1)}\n`;
    const middle = whole.length - 40;
    await appendFile(file.path, whole.slice(0, middle));
    await file.update();
    expect(file.progress).toMatchObject({ rows: 1, tornLine: 2 });
    await appendFile(file.path, whole.slice(middle, -1));
    await file.update();
    // Complete JSON without its newline is a row; the newline that comes later is none.
    expect(file.progress).toMatchObject({ rows: 2, tornLine: null });
    await appendFile(file.path, `\n${row(1, 0)}\n`);
    await file.update();
    expect(file.progress).toMatchObject({ rows: 3, tornLine: null, generation: 0 });
    expect([0, 1, 2].map((place) => file.columns.task.at(place))).toEqual([0, 0, 1]);
    expect((await file.read(2)).toString()).toBe(row(1, 0));
    expect(file.progress.indexedBytes).toBe(file.progress.bytes);
  });

  it("begins anew when the file was replaced, cut or removed", async () => {
    const file = await fileWith(`${row(0, 0)}\n${row(0, 1)}\n`);
    await truncate(file.path, row(0, 0).length + 1);
    await file.update();
    expect(file.progress).toMatchObject({ rows: 1, generation: 1 });
    // Written over, by something longer.
    await writeFile(file.path, `${row(5, 0)}\n${row(5, 1)}\n${row(5, 2)}\n`);
    await file.update();
    expect(file.progress).toMatchObject({ rows: 3, generation: 2 });
    expect(file.columns.task.at(0)).toBe(5);
    await unlink(file.path);
    await file.update();
    expect(file.progress).toMatchObject({ rows: 0, exists: false, generation: 3 });
    await writeFile(file.path, `${row(7, 0)}\n`);
    await file.update();
    expect(file.progress).toMatchObject({ rows: 1, exists: true });
    expect(file.columns.task.at(0)).toBe(7);
  });

  it("takes nothing that was written anew for what it has indexed", async () => {
    const file = await fileWith(`${row(0, 0)}\n${row(0, 1)}\n`);
    const age = new Date(1_700_000_000_000);
    await utimes(file.path, age, age);
    await file.update();
    const searching = file.texts(0);
    // As long as before and of the same age: only who reads can tell.
    await writeFile(file.path, `${row(5, 0)}\n${row(5, 1)}\n`);
    await utimes(file.path, age, age);
    const changed = { code: "VIEWER_FILE_CHANGED" };
    await expect(file.read(0)).rejects.toMatchObject(changed);
    await expect(file.summary(1)).rejects.toMatchObject(changed);
    const updating = file.update();
    await expect(file.read(0)).rejects.toMatchObject(changed);
    await updating;
    expect(file.progress).toMatchObject({ rows: 2, generation: 1 });
    expect((await file.read(0)).toString()).toBe(row(5, 0));
    expect((await searching.next()).value?.[0]?.text).toBe(row(5, 0));
    await truncate(file.path, 10);
    await expect(file.read(1)).rejects.toMatchObject(changed);
    for await (const _ of file.texts(0));
    await unlink(file.path);
    await file.update();
    await expect(file.read(0)).rejects.toMatchObject(changed);
    expect(file.progress).toMatchObject({ rows: 0, exists: false });
  });

  it("computes the dataset statistics of the file", async () => {
    const file = await fileWith(
      `${row(0, 0, { level: "easy", tags: ["a", "b"] })}\n${row(0, 1, { level: "hard", score: 0.25 })}\n{\n`,
    );
    const scan = await scanDataset(file.path, {
      lines: { start: 0, end: Number.POSITIVE_INFINITY },
      repeats: 1,
    });
    const expected = metricsContent({}, scan.statistics.summary());
    expect(file.panel.result()).toEqual({
      json: dumps(expected, { indent: 4, ensureAscii: false }),
      leftOut: [],
    });
    expect(JSON.parse(file.panel.result().json)).toMatchObject({
      "Number of examples": 2,
      reward: { Average: 0.5 },
      level: { unique_count: 2, total_count: 2 },
    });
  });

  it("leaves fields out of the statistics that stop other commands", async () => {
    const file = await fileWith(
      `${row(0, 0, { mixed: 1, temperature: 2 })}\n${row(0, 1, { mixed: "x" })}\n${row(0, 2, { mixed: [1, "x"] })}\n`,
    );
    const { json, leftOut } = file.panel.result();
    expect(leftOut).toEqual([
      { field: "temperature", reason: "has the name of a built-in statistic" },
      { field: "mixed", reason: "holds text in some places and numbers in others" },
    ]);
    expect(JSON.parse(json)).toMatchObject({ "Number of examples": 3 });
    expect(JSON.parse(json)).not.toHaveProperty("mixed");
  });
});
