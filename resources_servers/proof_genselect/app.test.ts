import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

const row = { problem: "P", proof_1: "a", proof_2: "b", correct_index: 2 };

it.each([
  ["<best_solution> 2 </best_solution>", {}, 1],
  ["<best_solution>1</best_solution></think><best_solution>2</best_solution>", {}, 1],
  ["<best_solution>1</best_solution><best_solution>2</best_solution>", {}, 0],
  ["<best_solution>2.0</best_solution>", {}, 0],
  ["<best_solution>2", {}, 0],
  ["<best_solution>2</best_solution>", { assert_think_end: true }, 0],
  ["</think><best_solution>2</best_solution>", { assert_think_end: true }, 1],
])("%s with %j earns %d", async (answer, config, reward) => {
  const server = await createTestServer(definition, { config });
  const { body } = await server.verify(verifyBody(row, messageItem(answer)));
  expect(body.reward).toBe(reward);
  expect(body).not.toHaveProperty("problem");
});
