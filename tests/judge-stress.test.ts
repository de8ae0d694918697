import path from "node:path";
import { describe, expect, it } from "vitest";
import { project, repository, runGym } from "./gym-process.ts";

const examples = ["--search-dir", path.join(repository, "examples"), "--model-type", "poetry_club"];
const judge = ["--config", "responses_api_models/poetry_club/configs/poetry_judge.yaml"];
const stress = async (...words: string[]) =>
  runGym(["judge", "stress", ...words], { cwd: await project({}) });

describe("gym judge stress", () => {
  it("finds what the scripted judge of the example falls for", async () => {
    const { exitCode, stdout, stderr } = await stress(
      "haiku",
      ...examples,
      ...judge,
      "--max-flips",
      "0.5",
      "--json",
    );
    const { results, judge: model } = JSON.parse(stdout) as {
      judge: string;
      results: { probe: string; answers: number; failed: number; share: { value: number } | null }[];
    };
    expect(model).toBe("poetry-club-1");
    // It accepts whatever is long; none of the wrong answers is a haiku.
    const padding = results.find(({ probe }) => probe === "padding");
    expect(padding).toMatchObject({ answers: 5, failed: 0 });
    expect(padding?.share?.value).toBeGreaterThan(0.5);
    expect(results.find(({ probe }) => probe === "order-swap")?.share).toBeNull();
    expect([exitCode, stderr]).toEqual([3, expect.stringContaining("padding: ")]);
  });

  it.each([
    [["hiku", ...examples], 2, "--environment hiku"],
    [["mcqa", "--model-type", "random_model"], 1, "asked no judge"],
    [["haiku", ...examples, "--run", "none.jsonl"], 1, "Input file not found: 'none.jsonl' (--run)"],
  ])("explains %j", async (words, code, message) => {
    const { exitCode, stderr } = await stress(...words);
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(message)]);
  });
});
