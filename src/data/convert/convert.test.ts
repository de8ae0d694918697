import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startHubServer } from "../../../tests/support/hub-server.ts";
import { type ConvertOptions, openConversion } from "./convert.ts";
import { readMap } from "./fields.ts";
import { convertDataset } from "./write.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-convert-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const access = (hubUrl?: string) => ({
  hub: { hubUrl },
  directory: path.join(directory, "sources"),
  roots: [directory],
  signal: new AbortController().signal,
  log: () => {},
});

async function converted(name: string, content: string, options: Partial<ConvertOptions> = {}) {
  await writeFile(path.join(directory, name), content);
  const { report, rows } = await openConversion({ input: name, access: access(), ...options });
  const found = [];
  for await (const { row } of rows) found.push(row as Record<string, never>);
  return { report, rows: found };
}

const lines = (...rows: unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const user = (content: string) => ({ responses_create_params: { input: [{ role: "user", content }] } });

describe("questions with answers", () => {
  it("reads a table, and names the line of what does not fit", async () => {
    const { report, rows } = await converted(
      "q.csv",
      'Question,Answer,Topic\n"What is\n6 times 7?",42,math\nshort\n,5,x\nLast?,no,y\n',
    );
    expect(report).toMatchObject({ format: "question", read: 4, converted: 2, rejected: 2 });
    expect(report.problems).toEqual([
      { where: "q.csv:4", reason: "it has 1 cells, but 3 columns have a name" },
      { where: "q.csv:5", reason: "the question is empty" },
    ]);
    expect(rows[0]).toEqual({
      ...user("What is\n6 times 7?"),
      question: "What is\n6 times 7?",
      expected_answer: "42",
      Topic: "math",
    });
  });

  it("reads prompts with completions, and numbers as text", async () => {
    const { rows } = await converted("p.jsonl", lines({ prompt: "2.5 + 2.5", completion: 5 }));
    expect(rows).toEqual([{ ...user("2.5 + 2.5"), question: "2.5 + 2.5", expected_answer: "5" }]);
  });

  it("keeps all right answers", async () => {
    const { report, rows } = await converted(
      "t.jsonl",
      lines({ question: "Who?", answer: { value: "Ada", aliases: ["Ada", "A. Lovelace"] } }),
    );
    expect(rows[0]).toMatchObject({ expected_answer: "Ada", expected_answers: ["Ada", "A. Lovelace"] });
    expect(report.notices).toEqual([expect.stringContaining("several right answers")]);
  });

  it("takes the meaning of fields from a map, and suggests the nearest name", async () => {
    const table = "Frage,Antwort\nWie viele?,3\n";
    const { rows } = await converted("d.csv", table, {
      map: readMap(["question=Frage", "expected_answer=Antwort"]),
    });
    expect(rows[0]).toMatchObject({ question: "Wie viele?", expected_answer: "3" });
    await expect(converted("d.csv", table)).rejects.toMatchObject({ code: "DATASET_FORMAT_UNKNOWN" });
    await expect(converted("d.csv", table, { map: readMap(["question=Farge"]) })).rejects.toThrow(
      "did you mean 'Frage'?",
    );
    expect(() => readMap(["questoin=Frage"])).toThrow("did you mean 'question'?");
  });
});

describe("multiple-choice questions", () => {
  const right = async (row: object) => {
    const { report, rows } = await converted("m.jsonl", lines(row));
    return rows[0]?.["expected_answer"] ?? report.problems[0]?.reason;
  };

  it.each([
    ["a letter", { options: ["x", "y"], answer: "B" }, "B"],
    ["a letter in brackets", { options: ["x", "y"], answer: "(b)" }, "B"],
    ["a number from 0", { choices: ["x", "y", "z"], answer: 2 }, "C"],
    ["a text", { options: ["Rome", "Paris"], answer: "Paris" }, "B"],
    ["labels", { choices: { text: ["x", "y"], label: ["1", "2"] }, answerKey: "2" }, "B"],
    ["a map", { options: { A: "x", B: "y" }, answer: "A" }, "A"],
    ["columns", { A: "x", B: "y", C: "z", answer: "C" }, "C"],
    ["rows of ours", { options: [{ A: "x" }, { B: "y" }], expected_answer: "B" }, "B"],
    ["a list as text", { options: '["x", "y"]', answer: "0" }, "A"],
  ])("finds the right option by %s", async (_, row, letter) => {
    expect(await right({ question: "Which?", ...row })).toBe(letter);
  });

  it.each([
    ["a number beyond the options", { options: ["x", "y"], answer: 2 }, "none of the 2 options"],
    ["a number that is also a text", { options: ["2", "1"], answer: "1" }, undefined],
    ["a number that is the text of another", { options: ["1", "0"], answer: "1" }, "both the number"],
    ["equal options", { options: ["x", "x"], answer: "x" }, "text of 2 options"],
  ])("does not guess with %s", async (_, row, reason) => {
    const found = await right({ question: "Which?", ...row });
    expect(found).toEqual(reason === undefined ? "B" : expect.stringContaining(reason));
  });
});

describe("conversations", () => {
  it("cuts the last answer from chat messages", async () => {
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hi" },
      { role: "assistant", content: "Hello" },
      { role: "user", content: "6*7?" },
      { role: "assistant", content: "42" },
    ];
    const { rows } = await converted("c.jsonl", lines({ messages, level: 3 }));
    expect(rows[0]).toMatchObject({ expected_answer: "42", level: 3 });
    expect(rows[0]?.["responses_create_params"]).toMatchObject({
      input: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
        { role: "assistant", id: "item_2", content: [{ text: "Hello" }] },
        { role: "user", content: "6*7?" },
      ],
    });
  });

  it("keeps tools, calls and their results, and a call at the end", async () => {
    const call = { id: "c1", type: "function", function: { name: "add", arguments: "{}" } };
    const tools = [{ type: "function", function: { name: "add", parameters: { type: "object" } } }];
    const messages = [
      { role: "user", content: "Add." },
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "c1", content: "3" },
      { role: "assistant", content: null, tool_calls: [{ ...call, id: "c2" }] },
    ];
    const { report, rows } = await converted("tools.jsonl", lines({ messages, tools }));
    expect(rows[0]?.["responses_create_params"]).toMatchObject({
      input: [{ role: "user" }, { type: "function_call" }, { type: "function_call_output", output: "3" }],
      tools: [{ type: "function", name: "add" }],
    });
    expect(rows[0]).toMatchObject({ expected_message: messages[3] });
    expect(report.notices).toEqual([expect.stringContaining("end with tool calls")]);
  });

  it("reads ShareGPT, and names an unknown speaker", async () => {
    const { report, rows } = await converted(
      "s.jsonl",
      lines(
        {
          conversations: [
            { from: "human", value: "6*7?" },
            { from: "gpt", value: "42" },
          ],
        },
        { conversations: [{ from: "alien", value: "Hi" }] },
        { conversations: [{ from: "gpt", value: "Hi" }] },
      ),
    );
    expect(rows).toMatchObject([{ expected_answer: "42" }]);
    expect(report.problems.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("a message is from 'alien'"),
      "no user wrote a message before the answer",
    ]);
  });

  it("reads preference pairs of three kinds", async () => {
    const chat = (text: string) => [
      { role: "user", content: "x" },
      { role: "assistant", content: text },
    ];
    const { report, rows } = await converted(
      "pairs.jsonl",
      lines(
        { prompt: "x", chosen: "good", rejected: "bad" },
        { chosen: chat("good"), rejected: chat("bad") },
        { chosen: "\n\nHuman: x\n\nAssistant: good", rejected: "\n\nHuman: x\n\nAssistant: bad" },
        { prompt: "x", chosen: "same", rejected: "same" },
        { chosen: "good", rejected: "bad" },
      ),
    );
    expect(rows).toHaveLength(3);
    for (const row of rows)
      expect(row).toMatchObject({
        chosen: "good",
        rejected: "bad",
        responses_create_params: { input: [{ role: "user", content: "x" }] },
      });
    expect(report.problems.map(({ reason }) => reason)).toEqual([
      "chosen and rejected are equal",
      expect.stringContaining("there is no prompt"),
    ]);
  });

  it("reads instructions with an input", async () => {
    const { rows } = await converted(
      "a.json",
      JSON.stringify([{ instruction: "Add.", input: "1 2", output: "3" }]),
    );
    expect(rows[0]).toMatchObject({ question: "Add.\n\n1 2", expected_answer: "3" });
  });
});

describe("sources", () => {
  it("leaves rows of a dataset as they are", async () => {
    const { report, rows } = await converted("r.jsonl", `${lines({ ...user("Hi"), x: 1 })}not json\n`);
    expect(rows).toEqual([{ ...user("Hi"), x: 1 }]);
    expect(report.problems).toEqual([{ where: "r.jsonl:2", reason: expect.any(String) }]);
  });

  it("reads a split of the hub", async () => {
    const hub = await startHubServer({});
    try {
      hub.addRepository("acme/quiz").put("test.jsonl", lines({ question: "6*7?", answer: "42" }));
      const output = path.join(directory, "rows.jsonl");
      const options = { access: access(hub.url), output, strict: true };
      await convertDataset({ ...options, input: "hub:acme/quiz@test" });
      expect(JSON.parse(await readFile(output, "utf8"))).toMatchObject({ expected_answer: "42" });
      await expect(convertDataset({ ...options, input: "hub:acme/quiz" })).rejects.toThrow(
        "hub:acme/quiz@test",
      );
      await expect(convertDataset({ ...options, input: "hub:quiz" })).rejects.toThrow("hub:OWNER/NAME@SPLIT");
    } finally {
      await hub.close();
    }
  });

  it("writes nothing in strict mode if a row does not fit", async () => {
    await writeFile(path.join(directory, "q.csv"), "question,answer\nA?,1\nonly\n");
    const output = path.join(directory, "rows.jsonl");
    const options = { input: "q.csv", access: access(), output };
    await expect(convertDataset({ ...options, strict: true })).rejects.toMatchObject({
      code: "DATASET_MISFITS",
      message: expect.stringContaining("q.csv:3: it has 1 cells"),
    });
    await expect(readFile(output)).rejects.toThrow("ENOENT");
    expect(await convertDataset({ ...options, strict: false })).toMatchObject({ converted: 1, rejected: 1 });
  });
});
