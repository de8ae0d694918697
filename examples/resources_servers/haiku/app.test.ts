import { createJudgedServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const judgedBy = (...replies: string[]) => createJudgedServer(definition, import.meta.url, replies);

const poem = messageItem("old pond at evening\na frog leaps into the dark\nsound of the water");

describe("haiku", () => {
  it("goes by the majority", async () => {
    const { server, prompts } = await judgedBy("Fine.\n[[GOOD]]", "Hm. [[BAD]]", "Yes. [[GOOD]]");
    const { body } = await server.verify(verifyBody({ topic: "a frog" }, poem));
    expect(body).toMatchObject({ reward: 1, verdicts: ["[[GOOD]]", "[[BAD]]", "[[GOOD]]"] });
    expect(prompts[0]).toContain("a haiku about a frog?");
  });

  it("asks nobody about an empty answer", async () => {
    const { server, prompts } = await judgedBy();
    expect((await server.verify(verifyBody({ topic: "a frog" }))).body.reward).toBe(0);
    expect(prompts).toHaveLength(0);
  });

  it("has no score when a judge cannot be asked", async () => {
    const { server } = await judgedBy("[[GOOD]]");
    const { status, body } = await server.verify(verifyBody({ topic: "a frog" }, poem));
    expect([status, body._ng_failure_class]).toEqual([200, "judge_failed"]);
  });
});
