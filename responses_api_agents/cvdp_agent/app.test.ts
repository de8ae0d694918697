import { createTestServer, messageItem, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

it.each([
  [3, ["", "", "module"], { reward: 1 }, 3],
  [2, ["", "", "module"], { reward: 0, parse_failed: true }, 2],
])(
  "asks at most %d times while the answer cannot be read",
  async (llm_parse_retries, answers, expected, calls) => {
    let asked = 0;
    const agent = await createTestServer(definition, {
      config: {
        resources_server: { type: "resources_servers", name: "hardware" },
        model_server: { type: "responses_api_models", name: "model" },
        llm_parse_retries,
      },
      servers: {
        model: () => modelResponse(messageItem(answers[asked++] ?? "")),
        hardware: (path, body) => {
          if (!path.endsWith("/verify")) return {};
          const isCode = JSON.stringify((body as { response: object }).response).includes("module");
          return { ...(body as object), reward: isCode ? 1 : 0, parse_failed: !isCode };
        },
      },
    });
    const { body } = await agent.post("/run", { responses_create_params: { input: "Write it." } });
    await agent.close();
    expect(body).toMatchObject(expected);
    expect(asked).toBe(calls);
  },
);
