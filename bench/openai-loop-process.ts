/**
 * The baseline of the `servers` bench: the same conversations in a plain loop on the `openai` package, without servers. Reads rows, keeps
 * some of them in flight, calls the model, runs its tool, calls the model again, and writes one line per rollout.
 *
 * Usage: `node openai-loop-process.js <base URL> <rows.jsonl> <results.jsonl> <in flight>`
 *
 * @module
 */
import { createReadStream, createWriteStream } from "node:fs";
import { createInterface } from "node:readline";
import OpenAI from "openai";
import type { ResponseCreateParamsNonStreaming, ResponseInput } from "openai/resources/responses/responses";

const [baseURL = "", rows = "", results = "", inFlight = "1"] = process.argv.slice(2);
const client = new OpenAI({ baseURL, apiKey: "k" });
const out = createWriteStream(results);
const running = new Set<Promise<void>>();

for await (const line of createInterface({ input: createReadStream(rows) })) {
  const rollout = runRow(line).finally(() => running.delete(rollout));
  running.add(rollout);
  if (running.size >= Number(inFlight)) await Promise.race(running);
}
await Promise.all(running);
out.end();

async function runRow(line: string): Promise<void> {
  const row = JSON.parse(line) as { responses_create_params: ResponseCreateParamsNonStreaming };
  const params = { ...row.responses_create_params, model: "m" };
  const input: ResponseInput =
    typeof params.input === "string" ? [{ role: "user", content: params.input }] : [...(params.input ?? [])];
  for (;;) {
    const response = await client.responses.create({ ...params, input });
    input.push(...(response.output as ResponseInput));
    let toolRan = false;
    for (const item of response.output) {
      if (item.type !== "function_call") continue;
      toolRan = true;
      input.push({ type: "function_call_output", call_id: item.call_id, output: getWeather(item.arguments) });
    }
    if (toolRan) continue;
    const added = input.slice(input.length - response.output.length);
    out.write(`${JSON.stringify({ ...row, response: { ...response, output: added }, reward: 1 })}\n`);
    return;
  }
}

function getWeather(text: string): string {
  const { city } = JSON.parse(text) as { city: string };
  return JSON.stringify({ city, weather_description: `The weather in ${city} is cold.` });
}
