import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

const circles = ["red", "blue", "red"].map((color) => ({ x: 1, y: 1, radius: 1, color }));

it.each([
  ["\\boxed{2}", 2, 1],
  ["\\boxed{x}, I mean \\boxed{２}", 2, 1],
  ["\\boxed{3} or \\boxed{2}", 3, 0],
  ["\\boxed{ 2 }", null, 0],
  ["2", null, 0],
  [`\\boxed{${"9".repeat(5000)}}`, null, 0],
])("%s", async (text, predicted_count, reward) => {
  const server = await createTestServer(definition);
  const { body } = await server.verify(verifyBody({ circles, target_color: "red" }, messageItem(text)));
  await server.close();
  expect(body).toMatchObject({ predicted_count, expected_count: 2, correct: reward === 1, reward });
});

it("refuses a circle without a colour", async () => {
  const server = await createTestServer(definition);
  const { status } = await server.verify(verifyBody({ circles: [{ x: 1 }], target_color: "" }));
  await server.close();
  expect(status).toBe(422);
});
