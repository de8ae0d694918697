import { readFileSync } from "node:fs";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { parseNumber } from "./parse-number.ts";

const raw = String.raw;

describe("parseNumber", () => {
  const value = (text: string) => {
    const number = parseNumber(text);
    return number && `${number.numerator}/${number.denominator}`;
  };
  it.each([
    ["42", "42/1"],
    ["-7", "-7/1"],
    ["042", "42/1"],
    ["1,234,567", "1234567/1"],
    [raw`1{,}200`, "1200/1"],
    ["$12.50", "25/2"],
    [raw`\$18`, "18/1"],
    ["18 apples", "18/1"],
    [raw`18 \text{ dollars}`, "18/1"],
    ["75%", "75/1"],
    [raw`75\%`, "75/1"],
    ["3/4", "3/4"],
    [raw`-\frac{6}{8}`, "-3/4"],
    [raw`\dfrac{1}{3}`, "1/3"],
    ["1e3", "1000/1"],
    ["1.5e-2", "3/200"],
    [".5", "1/2"],
    ["5.", "5/1"],
    [raw`45^\circ`, "45/1"],
  ])("reads %s", (text, expected) => expect(value(text)).toBe(expected));
  it.each(["", "x", "1/0", "12 or 13", "1.2.3", "--1", "1,23", "∞", "NaN", "0x10", "9".repeat(1000)])(
    "does not read %j",
    (text) => {
      expect(parseNumber(text)).toBeUndefined();
    },
  );
});

describe("numeric_answer", () => {
  async function reward(expected: unknown, ...texts: string[]): Promise<number> {
    const server = await createTestServer(definition);
    const { status, body } = await server.verify(
      verifyBody({ expected_answer: expected }, messageItem(...texts)),
    );
    await server.close();
    expect(status).toBe(200);
    return body.reward;
  }

  it("compares numbers, not texts", async () => {
    expect(await reward("1200", raw`So \boxed{1,200}.`)).toBe(1);
    expect(await reward(0.75, raw`\boxed{\frac{3}{4}}`)).toBe(1);
    expect(await reward("204", raw`\boxed{205}`)).toBe(0);
    expect(await reward("204", raw`\boxed{204.0001}`)).toBe(0);
  });

  it("reads the last box", async () => {
    expect(await reward("2", raw`\boxed{1} \boxed{2}`)).toBe(1);
    expect(await reward("1", raw`\boxed{1} \boxed{2}`)).toBe(0);
    expect(await reward("1", "The answer is 1.")).toBe(0);
    expect(await reward("1", "")).toBe(0);
  });

  it("compares texts if the expected answer is not a number", async () => {
    expect(await reward("07:30", raw`\boxed{07:30}`)).toBe(1);
    expect(await reward("07:30", raw`\boxed{7:30}`)).toBe(0);
  });

  it("refuses rows without an expected answer", async () => {
    const server = await createTestServer(definition);
    expect((await server.verify(verifyBody({}, messageItem("1")))).status).toBe(422);
    await server.close();
  });

  it("handles hostile answers in bounded time", async () => {
    for (const text of [
      raw`\boxed{`.repeat(150_000),
      raw`\boxed{${"9".repeat(1_000_000)}}`,
      raw`\boxed{${",1".repeat(400_000)}}`,
    ])
      expect(await reward("1", text)).toBe(0);
  });

  it("solves its example rows", async () => {
    const file = new URL("data/example.jsonl", import.meta.url);
    const rows = readFileSync(file, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows).toHaveLength(5);
    for (const { expected_answer } of rows)
      expect(await reward(expected_answer, raw`\boxed{${expected_answer}}`)).toBe(1);
  });
});
