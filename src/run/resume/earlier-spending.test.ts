import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { RolloutTally } from "../collect/rollout-tally.ts";
import { earlierSpending } from "./resume.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "spent-"));
});
afterEach(() => rm(directory, { recursive: true }));

function earlier(...costs: number[]): RolloutTally {
  const tally = new RolloutTally();
  for (const ng_cost of costs) tally.add({ reward: 1, response: { usage: { ng_cost } } }, 0, "a");
  return tally;
}

it.each([
  ['{"spent": 0.5}', [0.1, 0.2], 0.5],
  ['{"spent": 0.1}', [0.25, 0.5], 0.75],
  ['{"spent": null}', [0.25], 0.25],
  ['{"spent": -1}', [], 0],
  ['{"spe', [0.25], 0.25],
  [undefined, [0.25], 0.25],
  [undefined, [], 0],
])("uses the known costs: %s and rollouts of %j are %d", async (text, costs, spent) => {
  const progress = join(directory, "p.json");
  if (text !== undefined) await writeFile(progress, text);
  expect(await earlierSpending({ progress }, { earlier: earlier(...costs) })).toBe(spent);
});
