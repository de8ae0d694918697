import { expect, it } from "vitest";
import definition from "./app.ts";

const servers = {
  resources_server: { type: "resources_servers", name: "r" },
  model_server: { type: "responses_api_models", name: "m" },
};

it("runs on the host unless the config enables a sandbox", () => {
  const { name, config } = definition.options;
  expect(name).toBe("OpencodeAgent");
  expect(config?.parse(servers)).toMatchObject({ sandbox: false });
  expect(config?.parse({ ...servers, sandbox: true })).toMatchObject({ sandbox: true });
});
