import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { ServerClient } from "../../servers/calls/door.ts";
import { PROPOSERS, reflectionModel } from "./proposers.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("says that the reflection model does not answer", async () => {
  const notices: string[] = [];
  let fail: (error: Error) => void = () => {};
  const post = () =>
    new Promise<never>((_, reject) => {
      fail = reject;
    });
  const ask = reflectionModel({ post } as unknown as ServerClient, "big_model", {
    onTokens: () => {},
    onNotice: (text) => notices.push(text),
  });
  const answer = expect(ask("Why?")).rejects.toThrow("down");
  await vi.advanceTimersByTimeAsync(21_000);
  fail(new Error("down"));
  await answer;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(notices).toEqual(
    [10, 20].map(
      (seconds) =>
        `The reflection model 'big_model' has not answered for ${seconds} s; failed calls are retried.`,
    ),
  );
});

it.each(["reflect", "rewrite"] as const)("%s explains the braces of templates", async (name) => {
  const prompts: string[] = [];
  const ask = async (prompt: string) => {
    prompts.push(prompt);
    return "```\nNew.\n```";
  };
  for (const component of ["prompt.user", "system_prompt"])
    await PROPOSERS[name].propose(
      { texts: { [component]: "Old." }, component, examples: [], perfect: 1 },
      ask,
    );
  expect(prompts.map((prompt) => prompt.includes("{{ and }}"))).toEqual([true, false]);
});
