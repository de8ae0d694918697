import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { type EndpointFault, type EndpointRequest, faults } from "../src/testing/endpoint-server.ts";
import { ToyTokenizer } from "../src/testing/toy-tokenizer.ts";
import { VllmDouble } from "../src/testing/vllm-double.ts";
import { project, runGym } from "./gym-process.ts";

const TASKS = 100;
const REPEATS = 8;
const ROLLOUTS = TASKS * REPEATS;
const TURNS = 4;
const REPLICAS = 2;
/** Number of weight updates; the engines pause during an update. */
const WEIGHT_SYNCS = 3;
/** A stall of a minute, scaled down by 40. */
const STALL_MS = 1_500;

const counterTool = (name: string, properties: object) => ({
  type: "function",
  name,
  description: name,
  parameters: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
  strict: true,
});
const tools = [
  counterTool("increment_counter", { count: { type: "integer" } }),
  counterTool("get_counter_value", {}),
];

const rows = Array.from({ length: TASKS }, (_, index) => ({
  responses_create_params: {
    input: [{ role: "user", content: `Task ${index}: add ${index + 2} to the counter in two steps.` }],
    tools,
  },
  initial_count: index,
  expected_count: 2 * index + 2,
}));

const contentOf = (body: EndpointRequest["body"]): string =>
  String((body["messages"] as { content: unknown }[])[0]?.content);
const taskOf = (body: EndpointRequest["body"]): number => Number(/Task (\d+)/.exec(contentOf(body))?.[1]);

/** Adds in two steps, reads the counter, answers. */
function answer({ body }: EndpointRequest, turn: number) {
  const wanted = taskOf(body) + 2;
  const first = Math.floor(wanted / 2);
  const step = (count: number) => ({
    reasoning: `Now I add ${count}.`,
    toolCalls: [{ name: "increment_counter", arguments: { count } }],
  });
  if (turn === 0) return step(first);
  if (turn === 1) return step(wanted - first);
  return turn === 2
    ? { toolCalls: [{ name: "get_counter_value", arguments: {} }] }
    : { text: "The counter is where you want it." };
}

/** Something fails once in this many requests. */
function trouble(): () => EndpointFault | undefined {
  let count = 0;
  return () => {
    count++;
    if (count % 211 === 0) return faults.slow(STALL_MS);
    if (count % 397 === 0) return faults.hangUp();
    if (count % 499 === 0) return faults.serverError(503);
    return count % 997 === 0 ? faults.rateLimited() : undefined;
  };
}

/** Pauses the engines, updates their weights and resumes them, at equal intervals of the run. */
function syncWeights(engines: readonly VllmDouble[]): () => void {
  let isSyncing = false;
  const timer = setInterval(() => {
    const version = engines[0]?.policyVersion ?? 0;
    const done = engines.reduce((sum, { calls }) => sum + calls.length, 0);
    const due = ((version + 1) * ROLLOUTS * TURNS) / (WEIGHT_SYNCS + 1);
    if (isSyncing || version >= WEIGHT_SYNCS || done < due) return;
    isSyncing = true;
    for (const engine of engines) engine.pause();
    setTimeout(() => {
      for (const engine of engines) {
        engine.policyVersion = version + 1;
        engine.resume();
      }
      isSyncing = false;
    }, STALL_MS);
  }, 20);
  return () => clearInterval(timer);
}

interface Item {
  prompt_token_ids?: number[];
  generation_token_ids?: number[];
  generation_log_probs?: number[];
}
interface Row {
  reward: number;
  response: { output: Item[]; usage: Record<string, number> };
}

const idsText = (prompt: readonly number[], generation: readonly number[]) =>
  `${prompt.join()}|${generation.join()}`;
const startsWith = (ids: readonly number[], start: readonly number[]) =>
  start.every((id, index) => ids[index] === id);

it.each([
  { engine: "renders the conversation again", splicesPrefix: false },
  { engine: "continues from the ids it gave", splicesPrefix: true },
])(
  "runs 800 rollouts with engines that stall, fail, drift and change: $engine",
  async ({ splicesPrefix }) => {
    const tokenizer = new ToyTokenizer();
    const engines: VllmDouble[] = [];
    for (let number = 0; number < REPLICAS; number++) {
      const engine = new VllmDouble({
        answer,
        tokenizer,
        splicesPrefix,
        policyVersion: 0,
        record: false,
        latencyMs: 5,
        faultFor: trouble(),
        // Every tenth task uses other tokens in its second turn; in the last turn of every 25th the prompt changes.
        drift: (turn, body) => {
          if (turn === 1 && taskOf(body) % 10 === 0) return "odd-spelling";
          return turn === 3 && taskOf(body) % 25 === 0 ? "changing-prompt" : undefined;
        },
      });
      engines.push(await engine.start());
    }
    onTestFinished(async () => void (await Promise.all(engines.map((engine) => engine.close()))));
    const cwd = await project({ "rows.jsonl": rows.map((row) => `${JSON.stringify(row)}\n`).join("") });

    const stopSyncs = syncWeights(engines);
    const { exitCode, stdout, stderr } = await runGym(
      [
        ...["eval", "run", "--resources-server", "example_session_state_mgmt"],
        ...["--model-type", "vllm_model/vllm_model_for_training", "--model", engines[0]?.model ?? ""],
        `+policy_base_url=[${engines.map(({ baseUrl }) => baseUrl).join(",")}]`,
        ...["+policy_api_key=dummy_key", "-i", "rows.jsonl", "-o", "out/rollouts.jsonl"],
        ...["--num-repeats", String(REPEATS), "--concurrency", "200"],
      ],
      { cwd },
    ).finally(stopSyncs);
    expect(exitCode, stderr.slice(-4_000)).toBe(0);
    expect(stdout).toContain(
      `Coverage: ${ROLLOUTS} of ${ROLLOUTS} rollouts scored (0 failed, 0 masked, 0 missing)`,
    );

    // The records of the engines: every generation, and whether its prompt continued the previous turn.
    const calls = engines.flatMap((engine) => engine.calls);
    const generated = new Map(calls.map((call) => [idsText(call.promptIds, call.generationIds), call]));
    const written = readFileSync(path.join(cwd, "out/rollouts.jsonl"), "utf8").split("\n").filter(Boolean);
    expect(written).toHaveLength(ROLLOUTS);
    const counts = { extend: 0, fork: 0, lost: 0 };
    const versions = new Set<number>();
    let invented = 0;
    for (const line of written) {
      const { reward, response } = JSON.parse(line) as Row;
      expect(reward).toBe(1);
      const { ng_policy_version_start: start = -1, ng_policy_version_end: end = -1 } = response.usage;
      expect(start).toBeLessThanOrEqual(end);
      versions.add(start).add(end);
      const items = response.output.filter((item) => item.generation_token_ids);
      expect(items).toHaveLength(TURNS);
      let before: number[] | undefined;
      for (const {
        prompt_token_ids: prompt = [],
        generation_token_ids: ids = [],
        generation_log_probs,
      } of items) {
        if (!generated.has(idsText(prompt, ids))) invented++;
        expect(generation_log_probs).toHaveLength(ids.length);
        if (before) counts[startsWith(prompt, before) ? "extend" : "fork"]++;
        before = [...prompt, ...ids];
      }
    }
    expect(invented).toBe(0);
    expect([...versions].sort()).toEqual([0, 1, 2, 3]);

    // Spliced ids never drift in generated tokens; a prompt that changes at its beginning always does.
    const oddTasks = Math.ceil(TASKS / 10);
    const changedTasks = Math.ceil(TASKS / 25);
    const forks = REPEATS * (changedTasks + (splicesPrefix ? 0 : oddTasks));
    expect(counts).toEqual({ extend: ROLLOUTS * (TURNS - 1) - forks, fork: forks, lost: 0 });
    const statistics = JSON.parse(readFileSync(path.join(cwd, "out/rollouts_statistics.json"), "utf8"));
    expect(statistics.turn_boundaries).toEqual(counts);
    expect(stderr).toContain(`Turn boundaries: ${counts.extend} extend, ${forks} fork, 0 lost`);

    const exported = await runGym(
      [
        "eval",
        "export",
        "--rollouts",
        "out/rollouts.jsonl",
        "--format",
        "verl",
        "--tokens",
        "--verify-tokens",
        "--json",
      ],
      { cwd },
    );
    expect(exported.exitCode, exported.stderr).toBe(0);
    const trained = written.reduce((sum, line) => {
      const { output } = (JSON.parse(line) as Row).response;
      return sum + output.reduce((own, item) => own + (item.generation_token_ids?.length ?? 0), 0);
    }, 0);
    expect(JSON.parse(exported.stdout)).toMatchObject({
      read: ROLLOUTS,
      invalid: 0,
      verified_tokens: { trained },
    });
  },
  300_000,
);
