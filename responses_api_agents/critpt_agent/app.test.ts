import { createTestServer, messageItem, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

it("shows the second turn the first answer without its thoughts", async () => {
  const answers = ["<think>hm</think> It is 2.", "```python\nx = 2\n```"];
  const asked: { input: { role: string; content: unknown }[]; temperature?: number }[] = [];
  const agent = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "physics" },
      model_server: { type: "responses_api_models", name: "model" },
      turn2_prompt: "Fill in:\n{code_template}",
    },
    servers: {
      model: (_path, body) => {
        asked.push(body as never);
        return modelResponse(messageItem(answers[asked.length - 1] ?? ""));
      },
      physics: (path, body) => (path.endsWith("/verify") ? { ...(body as object), reward: 1 } : {}),
    },
  });
  const { body } = await agent.post("/run", {
    responses_create_params: { input: [{ role: "user", content: "What is 1 + 1?" }], temperature: 0.5 },
    code_template: "x = {...}",
  });
  await agent.close();
  expect(asked.map(({ input }) => input.map(({ content }) => content))).toMatchObject([
    ["What is 1 + 1?"],
    ["What is 1 + 1?", "It is 2.", "Fill in:\nx = {...}"],
  ]);
  expect(asked.map(({ temperature }) => temperature)).toEqual([0.5, 0.5]);
  expect(body).toMatchObject({
    reward: 1,
    response: { output: [{ content: [{ text: "```python\nx = 2\n```" }] }] },
  });
});
