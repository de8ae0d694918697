import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { z } from "zod";
import { startHubServer } from "../../tests/support/hub-server.ts";
import { installRoot } from "../config/paths.ts";
import { defineModel, defineResourcesServer } from "../index.ts";
import { runEvaluation } from "./index.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-converted-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

/** Answers with the question. */
const parrot = defineModel({
  responses: async ({ params }) => ({
    id: "resp_1",
    created_at: 0,
    model: "parrot",
    object: "response" as const,
    output: [
      {
        id: "msg_1",
        type: "message" as const,
        role: "assistant" as const,
        status: "completed" as const,
        content: [{ type: "output_text" as const, text: JSON.stringify(params.input), annotations: [] }],
      },
    ],
    parallel_tool_calls: true,
    tool_choice: "auto" as const,
    tools: [],
  }),
});

const quiz = defineResourcesServer({
  row: z.looseObject({ expected_answer: z.string() }),
  verify: ({ row, response }) => ({
    reward: JSON.stringify(response.output).includes(row.expected_answer) ? 1 : 0,
  }),
});

const source = { environment: quiz, model: parrot };

async function run(input: string, options: { env?: Record<string, string>; resume?: boolean } = {}) {
  const output = path.join(directory, "out", "r.jsonl");
  const { result } = runEvaluation(source, {
    input,
    output,
    roots: [directory, installRoot()],
    cwd: directory,
    ...options,
  });
  return { coverage: (await result).summary?.coverage, output };
}

it("runs the rows of a table, and resumes", async () => {
  await writeFile(path.join(directory, "data.csv"), "question,answer\nSay yes,yes\nSay no,never\n");
  const { coverage, output } = await run("data.csv");
  expect(coverage).toMatchObject({ ok: 2, expected: 2 });
  const rows = (await readFile(output, "utf8")).trimEnd().split("\n");
  expect(rows.map((row) => JSON.parse(row).reward).sort()).toEqual([0, 1]);
  expect((await run("data.csv", { resume: true })).coverage).toMatchObject({ ok: 2, expected: 2 });
  await writeFile(path.join(directory, "data.csv"), "question,answer\nSay yes,yes\nSay no,changed\n");
  await expect(run("data.csv", { resume: true })).rejects.toThrow("data.csv");
});

it("rejects a source whose rows do not all fit, and names lines of the source in later messages", async () => {
  await writeFile(path.join(directory, "data.csv"), "question,answer\nonly\nSay no,never\n");
  await expect(run("data.csv")).rejects.toMatchObject({
    code: "DATASET_MISFITS",
    message: expect.stringContaining("data.csv:2: it has 1 cells"),
  });
  await writeFile(path.join(directory, "data.csv"), 'question,answer\n"two\nlines",a\nNone,\n');
  await expect(run("data.csv")).rejects.toThrow("data.csv:4: expected_answer");
});

it("runs a split of the hub, and goes on with the same rows", async () => {
  const hub = await startHubServer({});
  try {
    const repository = hub.addRepository("acme/quiz");
    repository.put("test.jsonl", '{"question": "Say yes", "answer": "yes"}\n');
    const env = { HF_ENDPOINT: hub.url };
    expect((await run("hub:acme/quiz@test", { env })).coverage).toMatchObject({ ok: 1 });
    repository.put("test.jsonl", '{"question": "Another", "answer": "one"}\n');
    expect((await run("hub:acme/quiz@test", { env, resume: true })).coverage).toMatchObject({
      ok: 1,
      expected: 1,
    });
  } finally {
    await hub.close();
  }
});
