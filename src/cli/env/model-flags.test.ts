import { expect, it } from "vitest";
import type { ResolvedConfig } from "../../config/resolve.ts";
import { rejectUnusedModelUrl } from "./model-flags.ts";

const server = (name: string, config: object, type = "responses_api_models") =>
  ({ name, type, implementation: `${name}_impl`, config }) as unknown as ResolvedConfig["servers"][number];
const check =
  (url: string | undefined, ...servers: ResolvedConfig["servers"]) =>
  () =>
    rejectUnusedModelUrl({ "model-url": url }, { servers });

it("rejects an address that no server calls, and names the key to set", () => {
  const claude = server("policy_model", { base_url: "https://api.anthropic.com" });
  expect(check("http://gw:1", claude)).toThrow(
    "the config of 'policy_model' calls https://api.anthropic.com. To call another address with it, set ++policy_model.responses_api_models.policy_model_impl.base_url=http://gw:1;",
  );
});

it("accepts an address that is called, and servers without an address", () => {
  const claude = server("judge", { base_url: "https://api.anthropic.com" });
  const policy = server("policy_model", { openai_base_url: ["http://gw:1/v1", "http://gw:2"] });
  check("http://gw:1/v1", policy, claude)();
  check("http://gw:1", server("random", { model: "r" }), claude)();
  check("http://gw:1", server("agent", { base_url: "x" }, "responses_api_agents"))();
  check(undefined, claude)();
});
