// An evaluation without a config file or a second process. Run it with: node --import jiti/register examples/evaluate-in-code.ts
import { allAssistantText, defineResourcesServer } from "nemo-gym";
import { runEvaluation } from "nemo-gym/run";
import { z } from "zod";

const capitals = defineResourcesServer({
  row: z.looseObject({ answer: z.string() }),
  verify: ({ row, response }) => ({ reward: allAssistantText(response).includes(row.answer) ? 1 : 0 }),
});
const rows = [
  { responses_create_params: { input: "What is the capital of Norway?" }, answer: "Oslo" },
  { responses_create_params: { input: "What is the capital of Italy?" }, answer: "Rome" },
];
const { MODEL_URL: url, MODEL_NAME: name, MODEL_API_KEY: apiKey = "none" } = process.env;
const model = url ? { type: "vllm_model", url, name, apiKey } : { type: "random_model" };

const run = runEvaluation({ environment: capitals, model }, { input: rows, repeats: 4 });
for await (const event of run.events)
  if (event.type === "outcome") console.log(`task ${event.taskIndex}: ${event.outcome.status}`);
const { summary, rollouts } = await run.result;
const { value, low, high } = summary?.agents[0]?.statistics?.reward ?? {};
console.log(`${rollouts.length} rollouts, reward ${value}, 95 % interval [${low}, ${high}]`);
