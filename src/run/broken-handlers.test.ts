import { expect, it } from "vitest";
import { defineAgent, defineModel, defineResourcesServer } from "../index.ts";
import { responseEnvelope } from "../wire/index.ts";
import { type RunSource, runEvaluation } from "./index.ts";

const input = [{ responses_create_params: { input: "one" } }];
const environment = defineResourcesServer({ verify: () => ({ reward: 1 }) });

const envelope: object = responseEnvelope({ input: "one" }, { model: "mine", createdAt: 0 });

/** The failures of a run by class. */
async function failuresOf(source: RunSource): Promise<Record<string, string>> {
  const config = { environment, model: { type: "random_model" }, ...source };
  const { progress } = await runEvaluation(config, { input, maxAttempts: 1 }).result;
  return progress.failure_messages;
}

it.each([
  [undefined, "response: Input should be a valid dictionary"],
  ["hello", "response: Input should be a valid dictionary"],
  [{ id: "x" }, "response.created_at: Field required"],
  [{ ...envelope, output: undefined }, "response.output: Field required"],
])("names what a model returns instead of a Response: %j", async (answer, problem) => {
  const { provider_error } = await failuresOf({ model: defineModel({ responses: () => answer as never }) });
  expect(provider_error).toContain("the handler 'responses' did not return a Response: ");
  expect(provider_error).toContain(problem);
});

it.each([5, { cookies: {} }, { response: {}, cookies: {} }])(
  "names what an agent returns instead of its reply: %j",
  async (answer) => {
    const { agent_error } = await failuresOf({ agent: defineAgent({ responses: () => answer as never }) });
    expect(agent_error).toContain(
      "the handler 'responses' did not return { response, cookies } with a Response",
    );
  },
);

it.each([
  [undefined, "environment: verify returned nothing; it must return an object with the number 'reward'"],
  [1, "environment: verify returned 1; it must return an object with the number 'reward'"],
  [{}, "environment: verify returned no reward; it must return an object with the number 'reward'"],
  [
    { reward: "1" },
    "environment: verify returned the reward \"1\"; it must return an object with the number 'reward'",
  ],
])("names what a verifier returns instead of a reward: %j", async (result, problem) => {
  const broken = defineResourcesServer({ verify: () => result as never });
  expect(await failuresOf({ environment: broken })).toEqual({ verifier_error: problem });
});
