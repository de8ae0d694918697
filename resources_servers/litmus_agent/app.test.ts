import { createTestServer, growthOf, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { captureFormat, capturePattern } from "./capture.ts";

async function verify(text: string, row: Record<string, unknown>) {
  const server = await createTestServer(definition, { directory: import.meta.dirname });
  const reply = await server.verify(verifyBody(row, messageItem(text)));
  await server.close();
  return reply;
}

describe("litmus_agent", () => {
  it.each<[string, Record<string, unknown>, number]>([
    ["((1.0000001))", { expected_answer: 1, answer_type: "float" }, 1],
    ["((1.01))", { expected_answer: 1, answer_type: "float" }, 0],
    ["((about 3 or 4))", { expected_answer: 4, answer_type: "float" }, 1],
    ["((nan))", { expected_answer: 1, answer_type: "float" }, 0],
    ["((inf))", { expected_answer: 1, answer_type: "float", match: { rule: "exact" } }, 0],
    ["((2.5))", { expected_answer: 2, answer_type: "float", match: { rule: "exact" } }, 1],
    [
      "((105))",
      { expected_answer: 100, answer_type: "float", match: { rule: "rel_window", rel_tol: 0.05 } },
      1,
    ],
    ["((106))", { expected_answer: 100, answer_type: "float", match: { rule: "abs_window", abs_tol: 5 } }, 0],
    ["((Yes))", { expected_answer: "true", answer_type: "bool" }, 1],
    ["((2))", { expected_answer: 1, answer_type: "bool" }, 1],
    ["((2))", { expected_answer: 1, property_type: "bool" }, 0],
    ["((3.4))", { expected_answer: 3, property_type: "count" }, 1],
    ["((a  B))", { expected_answer: "A b", answer_type: "string" }, 1],
    ["x=1 x=2", { expected_answer: 2, answer_type: "float", output_regex: "x=(\\d)" }, 1],
    ["no answer", { expected_answer: 1, answer_type: "float" }, 0],
  ])("%s with %j earns %d", async (text, row, reward) => {
    expect((await verify(text, row)).body).toMatchObject({ reward, correct: reward === 1 });
  });

  it.each<Record<string, unknown>>([
    { expected_answer: 1 },
    { expected_answer: 1, answer_type: "list" },
    { expected_answer: 1, answer_type: "float", answer_format: "fmt_99" },
    { expected_answer: 1, answer_type: "float", output_regex: "(a)(b)" },
    { expected_answer: 1, answer_type: "float", output_regex: "(" },
    { expected_answer: 1, answer_type: "float", match: { abs_tol: 1 } },
    { expected_answer: 1, answer_type: "float", match: { rule: "guess" } },
    { expected_answer: "one", answer_type: "float" },
  ])("refuses %j", async (row) => {
    expect((await verify("((1))", row)).status).toBe(422);
  });

  it("refuses to start with a number where texts are compared: JSON does not tell 1 from 1.0", async () => {
    const server = await createTestServer(definition, { directory: import.meta.dirname });
    const seed = async (expected_answer: unknown) => {
      const { response: _none, ...row } = verifyBody({ expected_answer, answer_type: "string" });
      return (await server.post("/seed_session", row)).status;
    };
    expect([await seed(1), await seed("1.0")]).toEqual([422, 200]);
    await server.close();
  });

  it("repeats the fields of the row and reports the error", async () => {
    const { body } = await verify("((3.5))", {
      expected_answer: 4,
      answer_type: "float",
      source: "x",
      correct: true,
    });
    expect(body).toMatchObject({ source: "x", correct: false, abs_error: 0.5, predicted_value: 3.5 });
  });
});

describe("captureFormat", () => {
  it.each([
    ["fmt_00", "(()) ((a)b))", "a)b"],
    ["fmt_00", "(())", ""],
    ["fmt_01", "(Answer: 3)", "3"],
    ["fmt_01", "(Answer: )", ""],
    ["fmt_01", "(Answer:)", undefined],
    ["fmt_07", "\\boxed{1} \\boxed{a{b}c}", "a{b"],
    ["fmt_15", "<final_answer>\n 5 \n</final_answer>", "5"],
    ["fmt_22", "ANSWER IS\n 7 x\nend", "7 x"],
    ["fmt_24", "Final Answer  -> 2", "2"],
    ["fmt_30", "final answer: 2", undefined],
  ])("%s of %j", (format, text, answer) => {
    expect(captureFormat(text, format)).toBe(answer);
  });

  it("takes linear time", async () => {
    for (const part of ["(", "(Answer: ", "Final Answer "]) {
      const run = (size: number) => {
        for (const format of ["fmt_00", "fmt_01", "fmt_24"])
          captureFormat(part.repeat(size / part.length), format);
      };
      expect(await growthOf(run, 10_000)).toBeLessThan(1.6);
    }
  });
});

it("uses the last match of a pattern, over several lines", () => {
  expect(capturePattern("x1\n2y x3y", "x(.*?)y")).toBe("3");
  expect(capturePattern("x1\n2y", "x(.*?)y")).toBe("1\n2");
});

it.skipIf(skipWithoutBubblewrap)("keeps the variables of a Python session", { timeout: 60_000 }, async () => {
  const server = await createTestServer(definition, {
    directory: import.meta.dirname,
    config: { code_exec_max_output_chars: 20 },
  });
  const run = async (code: string) => (await server.tool("stateful_python_code_exec", { code })).body;
  expect(await run("a = 40 + 2")).toBe("");
  expect(await run("print(a)")).toBe("42\n");
  expect(await run("print('x' * 50)")).toBe(`${"x".repeat(20)}\n... [output truncated to 20 chars]`);
  expect(await run("1 / 0")).toContain("Traceback");
  expect((await server.tool("other", {})).status).toBe(404);
  await server.close();
});
