import { createTestServer, functionCallItem, modelResponse } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

const config = {
  resources_server: { type: "resources_servers", name: "tools" },
  model_server: { type: "responses_api_models", name: "model" },
};
const response = modelResponse(functionCallItem("find", { q: 1 }));

async function run(extra: object = {}) {
  const paths: string[] = [];
  const server = await createTestServer(definition, {
    config: { ...config, ...extra },
    servers: {
      model: (path) => {
        paths.push(path);
        return response;
      },
      tools: (path, body) => {
        paths.push(path);
        return { ...(body as object), reward: 0.5 };
      },
    },
  });
  const { body } = await server.post("/run", { responses_create_params: { input: "Find it." }, id: 7 });
  await server.close();
  return { body, paths };
}

it("asks once and verifies, without a session and without running tools", async () => {
  const { body, paths } = await run();
  expect(paths).toEqual(["/v1/responses", "/verify"]);
  expect(body).toMatchObject({ id: 7, reward: 0.5 });
  expect(body.response.output).toMatchObject([{ type: "function_call", name: "find" }]);
});

it("skips verification with skip_verification", async () => {
  const { body, paths } = await run({ skip_verification: true, skip_verification_reward: 0.25 });
  expect(paths).toEqual(["/v1/responses"]);
  expect(body).toMatchObject({ id: 7, reward: 0.25, verification_skipped: true });
});
