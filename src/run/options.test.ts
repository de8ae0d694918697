import { expect, it } from "vitest";
import { z } from "zod";
import { createJudge, defineModel, defineResourcesServer, judgeConfig } from "../index.ts";
import { messageItem } from "../testing/index.ts";
import { newId, responseEnvelope } from "../wire/index.ts";
import * as api from "./index.ts";

const environment = defineResourcesServer({ verify: () => ({ reward: 1 }) });
const model = { type: "random_model" };
const input = [{ responses_create_params: { input: "one" } }];

/** The error of a call with options that the compiler would reject. */
async function rejected(call: () => unknown): Promise<unknown> {
  const error = await Promise.resolve(call()).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return (error as { code?: string } | undefined)?.code === "OPTIONS_INVALID"
    ? (error as Error).message
    : error;
}

it.each([
  [{ repeat: 4 }, "runEvaluation: there is no option 'repeat'. Did you mean 'repeats'?"],
  [{ concurrency: -1 }, "runEvaluation: 'concurrency' must be a whole number of at least 0, not -1."],
  [{ concurrency: "8" }, "runEvaluation: 'concurrency' must be a whole number of at least 0, not '8'."],
  [{ limit: 1.5 }, "runEvaluation: 'limit' must be a whole number of at least 0, not 1.5."],
  [{ rolloutTimeoutSeconds: -3 }, "runEvaluation: 'rolloutTimeoutSeconds' must be more than 0, not -3."],
  [{ maxAttempts: 0 }, "runEvaluation: 'maxAttempts' must be a whole number of at least 1, not 0."],
  [{ rolloutTimeoutSeconds: "10" }, "runEvaluation: 'rolloutTimeoutSeconds' must be a number, not '10'."],
  [{ fsync: "often" }, "runEvaluation: 'fsync' must be one of never, interval, always, not 'often'."],
  [{ minCoverage: 80 }, "runEvaluation: 'minCoverage' must be at most 1, not 80."],
  [{ split: "trian" }, "runEvaluation: 'split' must be one of train, validation, benchmark, not 'trian'."],
  [{ signal: {} }, "runEvaluation: 'signal' must be an AbortSignal, not {}."],
  [{ input: 5 }, "runEvaluation: 'input' must be the name of a file, or a list of rows, not 5."],
  [null, "runEvaluation: the options must be an object, not null."],
])("rejects the evaluation options %j", async (options, message) => {
  const all = options && { input, ...options };
  expect(await rejected(() => api.runEvaluation({ environment, model }, all as never).result)).toBe(message);
});

it("lists the options when none is similar", async () => {
  const options = { input, zzz: 1 } as never;
  expect(await rejected(() => api.runEvaluation({ environment, model }, options).result)).toMatch(
    /^runEvaluation: there is no option 'zzz'\. The options are input, .*agent, .*, env\.$/,
  );
});

it.each([
  ["my.yaml", "config: the options must be an object, not 'my.yaml'."],
  [{ configPath: "my.yaml" }, "config: there is no option 'configPath'. Did you mean 'configPaths'?"],
  [{ configPaths: "my.yaml" }, "config: 'configPaths' must be a list of strings, not 'my.yaml'."],
  [
    { model: "random_model" },
    "config: 'model' must be a definition by defineModel, or { type, url, name, apiKey }, not 'random_model'.",
  ],
  [
    { model: { ...model, baseUrl: "x" } },
    "model: there is no option 'baseUrl'. The options are type, url, name, apiKey.",
  ],
  [
    { environment: defineModel({ responses: () => Promise.reject() }) },
    "config: 'environment' must be a definition by defineResourcesServer or defineGymnasiumServer, not { type: 'responses_api_models', options: [Object] }.",
  ],
])("rejects the config %j", async (config, message) => {
  expect(await rejected(() => api.startServers(config as never, { head: false }))).toBe(message);
});

it("rejects options of the other functions", async () => {
  type Call = (...given: never[]) => unknown;
  const call = (run: Call, ...args: unknown[]) =>
    rejected(() => {
      const result = run(...(args as never[]));
      return (result as { result?: unknown }).result ?? result;
    });
  const files = { rolloutsPath: "a.jsonl", outputPath: "b.jsonl" };
  expect(await call(api.startServers, { environment, model }, { heads: false })).toContain("mean 'head'");
  expect(await call(api.reverify, { environment, model }, { rollouts: "a.jsonl" })).toContain(
    "'output' must be a string, not undefined",
  );
  expect(await call(api.compare, "a.jsonl", "b.jsonl", { match: "index" })).toContain("mean 'matchBy'");
  expect(await call(api.exportRollouts, { ...files, format: "dpoo" })).toContain(
    "'format' must be one of sft",
  );
  expect(await call(api.exportRollouts, { ...files, format: "dpo", filters: { minReward: 1 } })).toContain(
    "filters: there is no option 'minReward'",
  );
  expect(await call(api.aggregate, {})).toContain("'shards' must be a string");
  expect(await call(api.selectTasks, {})).toContain("'profilePaths' must be a list of strings");
  expect(await call(api.checkHealth, {})).toContain("'rolloutsPath' must be a string");
  expect(await call(api.profile, {})).toContain("'materializedInputsPath' must be a string");
});

it("merges `values` into the blocks of the program's definitions", async () => {
  const judged = defineResourcesServer({
    config: z.object(judgeConfig),
    start: (server) => ({ judge: createJudge(server, server.config) }),
    verify: async ({ state, signal }) => {
      const { text } = await state.judge.ask("Is it right?", { signal });
      return { reward: text === "yes" ? 1 : 0 };
    },
  });
  const yes = defineModel({
    responses: async ({ params }) => ({
      ...responseEnvelope(params, { model: "yes", createdAt: 0 }),
      output: [{ ...messageItem("yes"), id: newId("msg") }] as never,
    }),
  });
  const values = { environment: { resources_servers: { inline: { judge_model_server: "policy_model" } } } };
  const run = api.runEvaluation({ environment: judged, model: yes, values }, { input });
  expect((await run.result).rollouts.map(({ reward }) => reward)).toEqual([1]);
});
