import { createTestServer, functionCallItem, messageItem, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

async function play(...turns: unknown[][]) {
  const server = await createTestServer(definition);
  const row = { responses_create_params: { input: "Find it." }, number: 5, guesses: 3 };
  const replies = [(await server.post("/reset", row)).body];
  for (const output of turns) {
    const response = modelResponse(...output);
    replies.push((await server.post("/step", { ...row, response })).body);
  }
  return replies;
}
const guess = (value: unknown) => [functionCallItem("guess", { value }, "c1")];

it("gives hints, and rewards the number", async () => {
  const [start, low, high, found] = await play(guess(3), guess(9), guess(5));
  expect(start.observation).toBe("I am thinking of a number. You have 3 guesses.");
  expect(low.info.tool_outputs).toEqual([{ call_id: "c1", output: '{"answer": "higher", "left": 2}' }]);
  expect(high.info.tool_outputs[0].output).toContain("lower");
  expect(found).toMatchObject({ reward: 1, terminated: true, truncated: false });
});

it("ends when the guesses are used up, including invalid ones", async () => {
  const [, text, nonsense, last] = await play([messageItem("Five?")], guess("five"), guess(1));
  expect(text).toMatchObject({ observation: "Call guess.", truncated: false });
  expect(nonsense.info.tool_outputs[0].output).toContain("no number");
  expect(last).toMatchObject({ reward: 0, terminated: false, truncated: true });
});
