import { createTestServer, messageItem, type TestServer, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";

const FORMULAS = "Handwritten Mathematical Expression Recognition";

describe("vlm_eval_kit", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await createTestServer(app);
  });
  afterAll(() => server.close());
  const row = (answer: unknown, category = "VQA") => ({ benchmark_name: "OCRBench", category, answer });

  it.each([
    [["cat", "DOG"], "a dog", "VQA", 1],
    [["12.50"], "12.5", "VQA", 0],
    [["line break"], "Line\nBreak", "VQA", 1],
    [["x^2+1"], "x ^ 2\n+ 1", FORMULAS, 1],
    [["X"], "x", FORMULAS, 0],
    [[], "x", "VQA", 0],
  ])("looks for one of %j in %j", async (answer, text, category, reward) => {
    const { body } = await server.verify(verifyBody(row(answer, category), messageItem(text)));
    expect(body).toMatchObject({ reward, OCRBench: reward, [`OCRBench/${category}`]: reward });
  });

  it("refuses other benchmarks, and answers that are no texts", async () => {
    const status = async (given: Record<string, unknown>) => (await server.verify(verifyBody(given))).status;
    expect(await status(row(null))).toBe(422);
    expect(await status(row([5]))).toBe(422);
    expect(await status({ ...row(["x"]), benchmark_name: "MMBench_DEV_EN_V11" })).toBe(422);
  });
});
