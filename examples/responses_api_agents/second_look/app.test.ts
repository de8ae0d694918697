import { createTestServer, messageItem, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

it("asks twice and returns the whole conversation", async () => {
  const asked: { input: unknown[] }[] = [];
  const server = await createTestServer(definition, {
    config: {
      resources_server: { type: "resources_servers", name: "quiz" },
      model_server: { type: "responses_api_models", name: "model" },
      question: "Sure?",
    },
    servers: {
      quiz: (path, body) => (path === "/verify" ? { ...(body as object), reward: 1 } : {}),
      model: (_path, body) => {
        asked.push(body as { input: unknown[] });
        return modelResponse(messageItem(`answer ${asked.length}`));
      },
    },
  });
  const { body } = await server.post("/run", { responses_create_params: { input: "How many?" } });
  expect(asked.map(({ input }) => input.length)).toEqual([1, 3]);
  const texts = body.response.output.map(({ content }: { content: string | { text: string }[] }) =>
    typeof content === "string" ? content : content[0]?.text,
  );
  expect(texts).toEqual(["answer 1", "Sure?", "answer 2"]);
  expect(body.reward).toBe(1);
});
