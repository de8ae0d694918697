import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import app from "../app.ts";
import { scoreAnswer } from "../scoring/score-answer.ts";
import type { Level } from "./generator.ts";
import { generators } from "./index.ts";
import { makeRow } from "./make-row.ts";

const levels: Level[] = [1, 2, 3];
const TASKS_PER_LEVEL = 25;

describe("generators", () => {
  it("cover at least twelve tasks", () => {
    expect(generators.size).toBeGreaterThanOrEqual(12);
  });

  describe.each([...generators.values()])("$task", (generator) => {
    it("creates tasks that reward the solution fully and nonsense less", () => {
      for (const level of levels) {
        for (let index = 0; index < TASKS_PER_LEVEL; index++) {
          const row = makeRow(generator, 7, index, level);
          expect([row.question, row.answer, scoreAnswer(generator.task, row.answer, row)]).toEqual([
            row.question,
            row.answer,
            1,
          ]);
          expect(scoreAnswer(generator.task, "no idea", row)).toBeLessThan(0.2);
        }
      }
    });

    it("creates the same tasks from the same seed and other tasks from another seed", () => {
      const draw = (seed: number) =>
        levels.map((level) =>
          JSON.stringify([0, 1, 2, 3].map((index) => makeRow(generator, seed, index, level))),
        );
      expect(draw(1)).toEqual(draw(1));
      expect(draw(1)).not.toEqual(draw(2));
    });

    it("sends the question as the last message of the prompt", () => {
      const { responses_create_params, question } = makeRow(generator, 3, 0, 1);
      expect(responses_create_params.input.at(-1)).toEqual({ role: "user", content: question });
    });
  });

  it("create rows whose answers the server rewards", async () => {
    const server = await createTestServer(app);
    for (const generator of generators.values()) {
      const row = makeRow(generator, 11, 0, 2);
      const { body } = await server.verify(
        verifyBody({ ...row }, messageItem(`I think <answer>${row.answer}</answer>`)),
      );
      expect(body).toMatchObject({ reward: 1, score: 1, task_name: generator.task });
    }
  });
});
