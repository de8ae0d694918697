import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

const options = [{ A: "x" }, { B: "y" }, { C: "z" }];

it.each([
  ["<solution>A</solution> no, <SOLUTION>The change B.</SOLUTION>", "lenient", "B", 1],
  ["<solution>B1</solution>", "lenient", "B", 1],
  ["<solution>É B</solution>", "lenient", null, 0],
  ["<solution>I'd take B</solution>", "lenient", null, 0],
  ["<solution>D</solution>", "lenient", null, 0],
  ["B", "lenient", null, 0],
  ["<solution> [b] </solution><solution>A</solution>", "strict", "B", 1],
  ["<solution>B.</solution>", "strict", null, 0],
  ["<SOLUTION>B</SOLUTION>", "strict", null, 0],
])("%s (%s)", async (text, grading_mode, extracted_answer, reward) => {
  const server = await createTestServer(definition);
  const row = { options, expected_answer: "b", grading_mode };
  const { body } = await server.verify(verifyBody(row, messageItem(text)));
  await server.close();
  expect(body).toMatchObject({ extracted_answer, reward, expected_answer: "B" });
});

it("accepts several answers, and nothing without options", async () => {
  const server = await createTestServer(definition);
  const answer = messageItem("<solution>C</solution>");
  const verify = async (row: Record<string, unknown>) => (await server.verify(verifyBody(row, answer))).body;
  expect(await verify({ options, expected_answer: ["B", "C", "X"] })).toMatchObject({
    reward: 1,
    expected_answer: ["B", "C"],
  });
  expect(await verify({ expected_answer: "C" })).toMatchObject({ reward: 0, extracted_answer: null });
  await server.close();
});
