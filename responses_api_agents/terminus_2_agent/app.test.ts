import { expect, it } from "vitest";
import definition from "./app.ts";

const servers = {
  resources_server: { type: "resources_servers", name: "r" },
  model_server: { type: "responses_api_models", name: "m" },
};

// libraries/terminal tests the loop with real terminals.
it("takes the turns of the original in JSON or XML", () => {
  const { name, config } = definition.options;
  expect(name).toBe("Terminus2Agent");
  expect(config?.parse(servers)).toMatchObject({ parser_name: "json", temperature: 0.7, concurrency: 8 });
  expect(config?.parse({ ...servers, parser_name: "xml" })).toMatchObject({ parser_name: "xml" });
  expect(() => config?.parse({ ...servers, parser_name: "yaml" })).toThrow(/parser_name/);
});
