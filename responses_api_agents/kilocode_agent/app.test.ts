import { expect, it } from "vitest";
import definition from "./app.ts";

const servers = {
  resources_server: { type: "resources_servers", name: "r" },
  model_server: { type: "responses_api_models", name: "m" },
};

it("runs on the host without thinking unless the config says otherwise", () => {
  const { name, config } = definition.options;
  expect(name).toBe("KilocodeAgent");
  expect(config?.parse(servers)).toMatchObject({ sandbox: false, thinking: false, context_window: 32_768 });
  expect(config?.parse({ ...servers, sandbox: true, thinking: "true" })).toMatchObject({
    sandbox: true,
    thinking: true,
  });
  expect(() => config?.parse({ ...servers, context_window: "large" })).toThrow(/context_window/);
});
