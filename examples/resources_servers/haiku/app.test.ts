import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

async function judgedBy(...replies: string[]) {
  const prompts: string[] = [];
  const server = await createTestServer(definition, {
    config: { judge_model_server: { type: "responses_api_models", name: "judge" } },
    directory: fileURLToPath(new URL(".", import.meta.url)),
    servers: {
      judge(_path, body) {
        prompts.push(JSON.stringify(body));
        const reply = replies[prompts.length - 1];
        if (reply === undefined) throw new Error("connection refused");
        return { output: [messageItem(reply)] };
      },
    },
  });
  return { server, prompts };
}

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
