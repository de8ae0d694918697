import { expect, it } from "vitest";
import definition from "./app.ts";

const servers = {
  resources_server: { type: "resources_servers", name: "r" },
  model_server: { type: "responses_api_models", name: "m" },
};

it("runs in a sandbox unless the config disables it", () => {
  const { name, config } = definition.options;
  expect(name).toBe("OpencodeSandboxedAgent");
  expect(config?.parse(servers)).toMatchObject({ sandbox: true });
  expect(config?.parse({ ...servers, sandbox: false })).toMatchObject({ sandbox: false });
});
