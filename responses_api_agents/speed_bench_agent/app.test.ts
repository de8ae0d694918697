import { createTestServer, messageItem, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

async function ask(input: unknown) {
  const asked: string[][] = [];
  const agent = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "meter" },
      model_server: { type: "responses_api_models", name: "model" },
    },
    servers: {
      model: (_path, body) => {
        const { input: items } = body as { input: { content: string }[] };
        asked.push(items.map(({ content }) => content));
        return modelResponse(messageItem(`answer ${asked.length}`));
      },
      meter: () => ({}),
    },
  });
  const { body } = await agent.post("/v1/responses", { input });
  await agent.close();
  return { asked, output: body.output.length };
}
const user = (content: string) => ({ role: "user", content });

it("asks the last user messages one by one", async () => {
  expect(await ask([{ role: "system", content: "s" }, user("1"), user("2")])).toEqual({
    asked: [
      ["s", "1"],
      ["s", "1", "answer 1", "2"],
    ],
    output: 2,
  });
});

it("asks once if the input ends with another message", async () => {
  expect(await ask([user("1"), user("2"), { role: "assistant", content: "x" }])).toEqual({
    asked: [["1", "2", "x"]],
    output: 1,
  });
});
