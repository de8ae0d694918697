import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { compareRuns } from "../../records/metrics/compare.ts";
import { seededNumbers } from "../../records/metrics/seeded-random.ts";
import type { Batches } from "./batches.ts";
import { OptimizeBudget } from "./budget.ts";
import { Components } from "./components.ts";
import { Journal } from "./journal.ts";
import { LeakCheck } from "./leaks.ts";
import { bestCandidate, meanScore, type Scores } from "./pareto.ts";
import { PROPOSERS } from "./proposers.ts";
import { Search, type SearchOptions } from "./search.ts";
import { SELECTORS } from "./selectors.ts";
import { makeSplits, type Splits } from "./splits.ts";

const RULES = ["rule-a", "rule-b", "rule-c", "rule-d", "rule-e", "rule-f", "rule-g", "rule-h"];
/** The last two rules must be in the description of the tool. */
const isToolRule = (rule: string) => RULES.indexOf(rule) >= 6;

const rows = Array.from({ length: 200 }, (_, index) => ({
  responses_create_params: {
    input: [
      { role: "system", content: "Work." },
      { role: "user", content: `Task ${index}` },
    ],
    tools: [
      { type: "function", name: "act", description: "Acts.", parameters: { type: "object", properties: {} } },
    ],
  },
  // Two of ten tasks need no rule.
  rule: RULES[index % 10] ?? null,
}));

/** A policy that passes a task if the texts have its rule, and the tasks of which nobody knows the rule at random. */
function policy(follows: boolean, random: () => number): Batches {
  const done = new Map<string, { task: number; reward: number; rule: string | null }[]>();
  return {
    directoryOf: (name) => name,
    throwIfStopped: () => {},
    async run(name, { layer, tasks, repeats }) {
      const prompt = layer.textOverrides?.system_prompt ?? "";
      const tool = layer.textOverrides?.tools?.["act"]?.description ?? "";
      const results = tasks.flatMap(({ index, row }) => {
        const rule = row["rule"] as string | null;
        const knows = rule === null || (isToolRule(rule) ? tool : prompt).includes(rule);
        const reward = follows ? Number(knows) : Number(random() < 0.4);
        return Array.from({ length: repeats }, () => ({ task: index, reward, rule }));
      });
      done.set(name, results);
      const rewards: Record<string, number[]> = {};
      for (const { task, reward } of results) rewards[task] = [...(rewards[task] ?? []), reward];
      const used = { rollouts: results.length, tokens: results.length, spent: 0, failed: 0, failure: null };
      return { directory: name, rewards, exhausted: false, ...used };
    },
    async attempts(directories, tasks) {
      const found = directories.flatMap((name) => done.get(name) ?? []).filter(({ task }) => tasks.has(task));
      return new Map(
        found.map(({ task, reward, rule }) => [
          task,
          [{ row: { reward, feedback: reward === 1 ? "right" : `missing: ${rule}` }, findings: [] }],
        ]),
      );
    },
  };
}

/** Adds the rules that the feedback names, if they belong to the component. */
const reflect = async (prompt: string): Promise<string> => {
  const [, component = ""] = /You improve one of them: "([^"]*)"/.exec(prompt) ?? [];
  const [, text = ""] = /now\n```\n([\s\S]*?)\n```/.exec(prompt) ?? [];
  const missing = RULES.filter(
    (rule) => prompt.includes(`missing: ${rule}`) && isToolRule(rule) === component.startsWith("tools."),
  );
  return `\`\`\`\n${[text, ...missing.filter((rule) => !text.includes(rule))].join("\n")}\n\`\`\``;
};

interface Setting {
  directory: string;
  follows?: boolean;
  ask?: SearchOptions["ask"];
  splits?: Splits;
  runner?: Batches;
  resume?: boolean;
  /** Rollouts that it may use. Default: 300. */
  rollouts?: number;
  repeats?: number;
  /** Number of the record, if it is not the seed. */
  file?: number;
}

/** Must not be used: everything is in the record. */
const neverAgain: Batches = {
  ...policy(true, () => 0),
  run: () => Promise.reject(new Error("paid twice")),
};

async function searched(seed: number, setting: Setting) {
  const { follows = true, ask = reflect, directory, splits, resume = false, file = seed } = setting;
  const random = seededNumbers(seed);
  const divided =
    splits ?? (await makeSplits(rows, { train: 60, val: 20, test: 40 }, { random, onNotice: () => {} }));
  const components = await Components.read(["system_prompt", "tools.*.description"], { rows, config: {} });
  const budget = new OptimizeBudget(
    {
      rollouts: setting.rollouts ?? 300,
      tokens: Number.POSITIVE_INFINITY,
      dollars: Number.POSITIVE_INFINITY,
    },
    80,
  );
  const journal = await Journal.open(path.join(directory, `${file}.jsonl`), {
    resume,
    onUse: (result) => budget.add(result),
  });
  const search = new Search({
    components,
    splits: divided,
    journal,
    budget,
    random,
    ask,
    runner: setting.runner ?? policy(follows, seededNumbers(seed + 1)),
    used: () => ({ tokens: 0, spent: 0 }),
    leaks: new LeakCheck([...divided.train, ...divided.val, ...divided.test]),
    proposer: PROPOSERS.reflect,
    selector: SELECTORS.pareto,
    repeats: setting.repeats ?? 1,
    minibatch: 3,
    perfect: 1,
    maxMerges: 5,
    onEvent: () => {},
  });
  const stopped = await search.run();
  const { unread } = journal;
  const best = search.candidates.get(bestCandidate(search.pool));
  if (best === undefined) throw new Error("no candidate");
  const first = search.candidates.get(0);
  const before = first && (await search.test(first));
  const after = await search.test(best);
  await journal.close();
  return { search, best, before: before?.scores ?? new Map(), after: after.scores, budget, stopped, unread };
}

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "gym-search-"));
});
afterEach(() => rm(directory, { recursive: true }));

it("learns six rules of the prompt and two of a tool within 300 rollouts", async () => {
  const reached: number[] = [];
  for (let seed = 0; seed < 10; seed++) {
    const { before, after, budget } = await searched(seed, { directory });
    expect(meanScore(before)).toBeLessThan(0.4);
    expect(budget.used.rollouts).toBeLessThanOrEqual(300);
    reached.push(meanScore(after) ?? 0);
  }
  expect(reached.filter((score) => score >= 0.9).length).toBeGreaterThanOrEqual(9);
});

it("shows no improvement of a policy that ignores its texts", async () => {
  let shown = 0;
  for (let seed = 0; seed < 100; seed++) {
    const { best, before, after } = await searched(seed, { directory, follows: false });
    if (best.index === 0) continue;
    const single = (scores: Scores) => new Map([...scores].map(([task, score]) => [task, [score]]));
    const { difference } = compareRuns(single(before), single(after));
    if ((difference.low ?? 0) > 0) shown++;
  }
  expect(shown).toBeLessThanOrEqual(5);
});

it("rejects proposals that repeat gold answers, and names them", async () => {
  const random = seededNumbers(1);
  const own = rows.map((row, index) => ({ ...row, answer: `secret word ${index}` }));
  const splits = await makeSplits(own, { train: 30, val: 20, test: 40 }, { random, onNotice: () => {} });
  const leaked = splits.test[0]?.row["answer"];
  const ask = async () => `\`\`\`\nRemember: ${leaked}\n\`\`\``;
  const { search, best, stopped } = await searched(1, { directory, splits, ask });
  expect(best.index).toBe(0);
  const { index: task, source } = splits.test[0] ?? {};
  expect(search.leaks).toEqual([
    {
      component: expect.any(String),
      field: "answer",
      task,
      source,
      words: leaked,
      count: expect.any(Number),
    },
    {
      component: expect.any(String),
      field: "answer",
      task,
      source,
      words: leaked,
      count: expect.any(Number),
    },
  ]);
  expect(source).toMatch(/^input\[\d+\]$/);
  expect(stopped).toMatch(/changed nothing: it contains a gold answer$/);
});

it.each([
  ["nothing", async () => "", "the reflection model answered nothing"],
  ["garbage", async () => "I cannot help.", "the reply has no text between lines of three backticks"],
  ["an error", () => Promise.reject(new Error("down")), "the reflection model failed: down"],
])("counts a reflection model that answers %s", async (_, ask, reason) => {
  const { search, best, stopped } = await searched(2, { directory, ask });
  expect(best.index).toBe(0);
  expect(search.rejections[reason]).toBeGreaterThanOrEqual(5);
  expect(stopped).toMatch(/in a row/);
});

it("takes the same steps again when it is resumed, and runs none of them", async () => {
  const first = await searched(3, { directory });
  const again = await searched(3, { directory, resume: true, runner: neverAgain });
  expect([...again.search.candidates]).toEqual([...first.search.candidates]);
  expect(again.budget.used).toEqual(first.budget.used);
  await expect(searched(4, { directory, resume: true, file: 3 })).rejects.toThrow(
    /other inputs or options \(step 2\):\n {2}- tasks was \[.*\], is \[/,
  );
});

it("knows the steps that a smaller budget does not take", async () => {
  await searched(3, { directory, rollouts: 200 });
  const { unread } = await searched(3, { directory, resume: true, rollouts: 200, runner: neverAgain });
  expect(unread).toBe(0);
  const journal = await Journal.open(path.join(directory, "3.jsonl"), { resume: true });
  expect(journal.unread).toBeGreaterThan(2);
  await journal.close();
});

it("goes on with a larger budget, and pays for no step again", async () => {
  const names: string[] = [];
  const whole = policy(true, seededNumbers(4));
  const runner: Batches = {
    ...whole,
    run: (name, batch) => {
      names.push(name);
      return whole.run(name, batch);
    },
  };
  const first = await searched(3, { directory, rollouts: 160, runner });
  const second = await searched(3, { directory, rollouts: 300, runner, resume: true });
  expect(new Set(names).size).toBe(names.length);
  expect(second.search.candidates.size).toBeGreaterThan(first.search.candidates.size);
  expect(second.budget.used.rollouts).toBeGreaterThan(first.budget.used.rollouts);
  expect(second.budget.used.rollouts).toBeLessThanOrEqual(300);
  const third = await searched(3, {
    directory,
    rollouts: 300,
    resume: true,
    runner: { ...runner, run: neverAgain.run },
  });
  expect(third.budget.used).toEqual(second.budget.used);
});

/** Ends with the budget in one batch, until `lifted`. */
function limited(split: string, lifted: () => boolean): Batches {
  const whole = policy(true, seededNumbers(5));
  return {
    ...whole,
    run: async (name, batch) => ({
      ...(await whole.run(name, batch)),
      exhausted: name.endsWith(split) && !lifted(),
    }),
  };
}

it("continues a batch that the budget ended, and says when none could be scored", async () => {
  let isLifted = false;
  const first = limited("c0-val", () => isLifted);
  await expect(searched(3, { directory, runner: first })).rejects.toThrow(
    "The budget ended during the first validation",
  );
  const training = limited("c0-train", () => isLifted);
  const { stopped } = await searched(3, { directory, runner: training, resume: true });
  expect(stopped).toBe("the budget is spent");
  isLifted = true;
  const { search } = await searched(3, { directory, runner: training, resume: true });
  expect(search.candidates.size).toBeGreaterThan(1);
});

it("shows how a repeat that passed differs from one that did not", async () => {
  const whole = policy(true, seededNumbers(7));
  const attempt = (reward: number, content: string) => ({
    row: { reward, response: { output: [{ role: "assistant", content }] } },
    findings: [],
  });
  const runner: Batches = {
    ...whole,
    run: async (name, batch) => {
      const result = await whole.run(name, batch);
      const rewards = Object.fromEntries(batch.tasks.map(({ index }) => [index, [0, 1]]));
      return batch.repeats === 2 ? { ...result, rewards } : result;
    },
    attempts: async (_, tasks) =>
      new Map([...tasks].map((task) => [task, [attempt(1, "I asked first."), attempt(0, "I guessed.")]])),
  };
  const prompts: string[] = [];
  const ask = async (prompt: string) => {
    prompts.push(prompt);
    return "";
  };
  const { budget } = await searched(3, { directory, runner, ask, repeats: 2 });
  expect(prompts[0]).toContain("not passed, reward 0.5");
  expect(prompts[0]).toMatch(
    /reward 0\)\nassistant: I guessed\.[\s\S]*passed \(reward 1\)\nassistant: I asked first\./,
  );
  expect(budget.used.rollouts).toBeLessThanOrEqual(300);
});

it("does not take failed training rollouts for passed ones", async () => {
  const whole = policy(true, seededNumbers(6));
  const runner: Batches = {
    ...whole,
    run: async (name, batch) => {
      const result = await whole.run(name, batch);
      if (!name.endsWith("train")) return result;
      return { ...result, rewards: {}, failed: result.rollouts, failure: "timeout: too slow" };
    },
  };
  const { stopped, search } = await searched(3, { directory, runner });
  expect(stopped).toBe("all training rollouts failed: timeout: too slow");
  expect(search.rejections).toEqual({ "the training rollouts failed": 5 });
});

it("asks a reflection model again that failed before it was resumed", async () => {
  const down = () => Promise.reject(new Error("down"));
  const first = await searched(3, { directory, ask: down });
  expect(first.stopped).toBe("the reflection model failed 5 times in a row");
  const second = await searched(3, { directory, resume: true });
  expect(second.search.candidates.size).toBeGreaterThan(1);
  const third = await searched(3, { directory, resume: true, ask: down, runner: neverAgain });
  expect([...third.search.candidates]).toEqual([...second.search.candidates]);
});
