import { createTestServer, functionCallItem, messageItem, modelResponse } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { feedbackFor } from "./game.ts";

const guesses = ["crane", "slate", "those", "light", "robot", "level", "llama", "eerie"];

async function play(target = "crane", row = {}) {
  const server = await createTestServer(definition, { config: { guesses } });
  const body = { responses_create_params: { input: "Play." }, custom_target: target, ...row };
  const reset = await server.post("/reset", body);
  const step = async (...items: object[]) =>
    server.post("/step", { ...body, response: modelResponse(...(items as never[])) });
  const call = (name: string, args: unknown = {}) => functionCallItem(name, args as never);
  const guess = async (...words: string[]) =>
    step(...words.map((word) => call("submit_guess", { guess: word })));
  const output = (reply: { body: { info: { tool_outputs: { output: string }[] } } }) =>
    JSON.parse(reply.body.info.tool_outputs[0]?.output ?? "null");
  return { reset, step, call, guess, output };
}

describe("feedbackFor", () => {
  it.each([
    ["slate", "crane", "__G_G"],
    ["eerie", "level", "YG___"],
    ["llama", "level", "GY___"],
    ["level", "llama", "G___Y"],
  ])("%s against %s is %s", (guess, target, feedback) => {
    expect(feedbackFor(guess, target)).toBe(feedback);
  });
});

describe("wordle", () => {
  it.each([
    [["crane"], 1.6],
    [["slate", "crane"], 1.8],
    [["zzzzz", "cat", "crane"], 1.56],
    [["slate", "slate", "crane"], 1.34],
    [["slate", "light", "crane"], 1.46],
  ])("%j earns %d", async (words, reward) => {
    const { guess } = await play();
    const { body } = await guess(...words);
    expect(body).toMatchObject({ terminated: true, info: { game_outcome: "win", turns_used: words.length } });
    expect(body.reward).toBeCloseTo(reward, 12);
  });

  it("shows feedback until the game is lost", async () => {
    const { guess, output } = await play("crane", { max_turns: 2 });
    const first = await guess("  SLATE ");
    expect(first.body).toMatchObject({ reward: 0, terminated: false, info: { game_outcome: "incomplete" } });
    expect(output(first)).toMatchObject({
      valid: true,
      feedback: "__G_G",
      turns_remaining: 1,
      target_word: null,
    });
    const last = await guess("those");
    expect(last.body).toMatchObject({
      reward: 0,
      terminated: true,
      info: { game_outcome: "loss", turns_used: 2 },
    });
  });

  it("answers questions without a turn", async () => {
    const { step, call, guess, output } = await play();
    await guess("slate");
    expect(output(await step(call("get_game_state")))).toMatchObject({
      turn: 1,
      guesses: ["SLATE"],
      known_greens: { 3: "A", 5: "E" },
      eliminated_letters: ["L", "S", "T"],
    });
    expect(output(await step(call("check_word_validity", { word: "ab1de" }))).reason).toContain(
      "only letters",
    );
    expect(output(await step(call("submit_guess", { guess: 5 }))).error).toContain("Invalid arguments");
    expect(output(await step(call("peek"))).error).toBe("Unknown tool: peek");
  });

  it("ends when the model stops playing", async () => {
    const { step } = await play();
    expect((await step(messageItem("I give up."))).body).toMatchObject({ reward: 0, terminated: true });
    expect((await step(messageItem("Again."))).status).toBe(400);
  });

  it.each([["zzzzz"], ["cat"]])("refuses the target %s", async (target) => {
    expect((await play(target)).reset.status).toBe(400);
  });
});
