import { describe, expect, it } from "vitest";
import type { ResponseInputItem } from "../../wire/schemas/responses.ts";
import { functionCallItem, messageItem, verifyBody } from "../hosting/response-items.ts";
import { createTestServer } from "../hosting/test-server.ts";
import { loopAgentConfig } from "./agent-config.ts";
import { defineAgent } from "./define-agent.ts";
import { type ToolLoopHooks, toolLoop } from "./tool-loop.ts";

const config = {
  resources_server: { type: "resources_servers", name: "world" },
  model_server: { type: "responses_api_models", name: "model" },
  max_steps: 5,
};
const user = (content: string): ResponseInputItem => ({ role: "user", content, type: "message" });

/** Runs the loop on scripted model turns; the last one repeats. */
async function loop(hooks: ToolLoopHooks, ...turns: object[][]) {
  const agent = defineAgent({ config: loopAgentConfig, responses: (args) => toolLoop(args, hooks) });
  const asked: unknown[][] = [];
  const called: string[] = [];
  const server = await createTestServer(agent, {
    config,
    servers: {
      model: (_path, body) => {
        asked.push((body as { input: unknown[] }).input);
        const items = (turns.length > 1 ? turns.shift() : turns[0]) ?? [];
        return verifyBody({}, ...(items as Parameters<typeof verifyBody>[1][])).response;
      },
      world: (path) => {
        called.push(path);
        return { seen: path };
      },
    },
  });
  const { body } = await server.post("/v1/responses", { input: "Go." });
  await server.close();
  return { asked, called, types: body.output.map((item: { type: string }) => item.type), body };
}

describe("toolLoop", () => {
  it("ends a rollout at max_tokens_per_rollout, and asks for no more tokens than are left", async () => {
    const agent = defineAgent({ config: loopAgentConfig, responses: (args) => toolLoop(args) });
    const asked: unknown[] = [];
    const usage = {
      input_tokens: 30,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 40,
    };
    const server = await createTestServer(agent, {
      config: { ...config, max_steps: null },
      globalConfig: { max_tokens_per_rollout: 100 },
      servers: {
        model: (_path, body) => {
          asked.push((body as { max_output_tokens: unknown }).max_output_tokens);
          const response = verifyBody({}, functionCallItem("ls", {})).response as object;
          return { ...response, usage };
        },
        world: () => ({}),
      },
    });
    const { body } = await server.post("/v1/responses", { input: "Go.", max_output_tokens: 90 });
    await server.close();
    expect(asked).toEqual([90, 60, 20]);
    expect(body).toMatchObject({
      status: "incomplete",
      usage: { total_tokens: 120 },
      metadata: {
        ng_termination_reason: "max_tokens_per_rollout",
        ng_termination_message: "the rollout used 120 of 100 tokens (max_tokens_per_rollout)",
      },
    });
  });

  it("lets an agent answer calls itself or after the server", async () => {
    const hooks: ToolLoopHooks = {
      runCall: (call, byServer) => (call.name === "rm" ? "rejected" : byServer()),
    };
    const calls = [functionCallItem("rm", {}), functionCallItem("ls", {})];
    const { called, body } = await loop(hooks, calls, [messageItem("Done.")]);
    expect(called).toEqual(["/ls"]);
    const outputs = body.output.filter(({ type }: { type: string }) => type === "function_call_output");
    expect(outputs.map(({ output }: { output: string }) => output)).toEqual(["rejected", '{"seen":"/ls"}']);
  });

  it("lets an agent shorten the conversation", async () => {
    const { asked } = await loop(
      { question: (conversation) => conversation.slice(-1) },
      [functionCallItem("ls", {})],
      [messageItem("Done.")],
    );
    expect(asked.map((items) => items.length)).toEqual([1, 1]);
  });

  it("continues with the items that an agent adds to an answer, within max_steps", async () => {
    const { asked, types } = await loop({ answered: () => [user("And?")] }, [messageItem("Done.")]);
    expect(asked).toHaveLength(config.max_steps);
    expect(types).toEqual(
      Array(config.max_steps)
        .fill("message")
        .flatMap((type) => [type, type]),
    );
    const once = await loop({ answered: (_response, step) => (step === 1 ? [user("And?")] : []) }, [
      messageItem("Done."),
    ]);
    expect(once.asked.map((items) => items.length)).toEqual([1, 3]);
  });
});
