import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";
import { punctuationErrorRate } from "./measures.ts";
import { asrText } from "./metrics.ts";

describe("asr_with_pc", () => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(app);
  });
  afterAll(() => server.close());
  const verify = (row: Record<string, unknown>, text: string) =>
    server.verify(verifyBody(row, messageItem(text)));

  it.each([
    ["Hello, world.", "Hello, world.", {}, { reward: 1, wer_pc: 0, per: 0 }],
    ["Hello, world.", "hello world", {}, { reward: 0, wer: 0, wer_pc: 0.75, per: 1 }],
    ["twenty five dollars", "$25", { task_type: "ASR" }, { reward: 1, wer: 0 }],
    ["(noise)", "", { task_type: "ASR" }, { reward: 0, text: "", pred_text: "empty" }],
    ["a b", "a b", { task_type: "Hallucination", audio_duration: 0.1 }, { reward: 0, char_rate: 1800 }],
    ["a b", "a b", { task_type: "Hallucination" }, { reward: 1, hallucination_rate: 0 }],
    [
      "x",
      "forty two",
      { task_type: "ASR_LEADERBOARD", text_tn: "42", reference_fields: ["text_tn"] },
      { reward: 0, wer_tn: 0, is_correct_tn: true },
    ],
  ])("scores %j against %j", async (expected_answer, answer, row, expected) => {
    expect((await verify({ expected_answer, ...row }, answer)).body).toMatchObject(expected);
  });

  it("rejects a row that names a missing reference", async () => {
    const { status, body } = await verify(
      { task_type: "ASR_LEADERBOARD", reference_fields: ["text_tn"] },
      "x",
    );
    expect(status).toBe(422);
    expect(JSON.stringify(body)).toContain("text_tn");
  });
});

it("reads a megabyte of open brackets in time", () => {
  expect(asrText(`${"[".repeat(1e6)} and ${"(".repeat(1e6)} a`)).toBe("and a");
});

describe("asrText", () => {
  it.each([
    ["Mr. O'Neil won't pay $1,234.56!", "mister 0 neil will not pay $1234.56"],
    ["two point five million and three", "2500003"],
    ["the nineteen nineties", "the 1990s"],
    ["twenty one hundred and one", "2101"],
    ["fifty per cent of nine oh two", "50% of 902"],
    ["he's been to the theatre, uh, with colours", "he has been to the theater with colors"],
    ["négligée œuvre", "negligee oeuvre"],
    ["minus", "minus"],
    ["double trouble, double seven", "double trouble 77"],
  ])("%s", (text, expected) => {
    expect(asrText(text)).toBe(expected);
  });
});

it.each([
  ["a,b.", "a,b.", 0],
  ["...", ".", 2 / 3],
  ["", "!", 1],
  ["words", "words", 0],
])("punctuation of %j against %j", (reference, hypothesis, rate) => {
  expect(punctuationErrorRate(reference, hypothesis)).toBeCloseTo(rate, 9);
});
