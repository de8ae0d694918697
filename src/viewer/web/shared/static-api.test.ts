import { expect, it } from "vitest";
import type { ListedRow } from "../../api-types.ts";
import type { EmbeddedRun } from "../../share/embedded.ts";
import { embeddedApi } from "./static-api.ts";

function row(line: number, about: Partial<ListedRow>): ListedRow {
  return {
    source: "rollouts",
    line,
    readable: true,
    task: 0,
    rollout: 0,
    reward: 1,
    agent: "quiz",
    model: "m",
    failure: null,
    lost: false,
    addressed: true,
    masked: false,
    attempt: 0,
    input_tokens: null,
    output_tokens: null,
    cost: null,
    duration_ms: null,
    turns: 1,
    tool_calls: 0,
    tools: [],
    bytes: 10,
    prompt: `question ${line}`,
    answer: "",
    extracted: null,
    expected: null,
    message: null,
    annotation: null,
    ...about,
  };
}

const failure = { source: "failures", failure: "timeout", reward: null } as const;
const rows = [
  row(7, { task: 1, rollout: 1, reward: 0 }),
  row(9, { task: 1, rollout: 0, tools: ["python"] }),
  row(3, { ...failure, task: 2, lost: true }),
];
const api = embeddedApi({
  rows,
  texts: null,
  status: { version: 1, generation: 1 },
} as unknown as EmbeddedRun);
const linesOf = async (parameters: Record<string, string>) =>
  (await api.rollouts(null, parameters)).rows.map(({ source, line }) => `${source}:${line}`);

it("selects and sorts the rows of a copy that has only some lines of the files", async () => {
  expect(await linesOf({})).toEqual(["rollouts:7", "rollouts:9", "failures:3"]);
  expect(await linesOf({ sort: "task" })).toEqual(["rollouts:9", "rollouts:7", "failures:3"]);
  expect(await linesOf({ q: "is:zero" })).toEqual(["rollouts:7"]);
  expect(await linesOf({ q: "is:lost" })).toEqual(["failures:3"]);
  expect(await linesOf({ q: "tool:python line=9" })).toEqual(["rollouts:9"]);
  expect(await linesOf({ q: '"Question 7"' })).toEqual(["rollouts:7"]);
  expect((await api.rollouts(null, { locate: "failures:3" })).located).toBe(2);
});

it("groups the rows by task", async () => {
  const { tasks, counts } = await api.tasks(null, { by: "mean", order: "desc" });
  expect(counts).toMatchObject({ all: 2, mixed: 1, errored: 1 });
  expect(tasks).toMatchObject([
    {
      task: 1,
      mean: 0.5,
      prompt: "question 7",
      cells: [
        { line: 9, state: "pass" },
        { line: 7, state: "zero" },
      ],
    },
    { task: 2, mean: null, failed: 1, cells: [{ source: "failures", line: 3, state: "failed" }] },
  ]);
});
