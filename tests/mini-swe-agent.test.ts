import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { skipWithoutBubblewrap } from "../src/testing/skip-without-bubblewrap.ts";
import { project, runGym } from "./gym-process.ts";

it.skipIf(skipWithoutBubblewrap).each(["mini_swe_agent", "mini_swe_agent_2"])(
  "%s solves tasks of a tiny repository with a recorded model, and grades the patches again",
  { timeout: 180_000 },
  async (name) => {
    const cwd = await project({});
    const recorded = `resources_servers/${name}/data/example_rollouts.jsonl`;
    const replay = [
      ...["--model-type", "replay_model"],
      `++policy_model.responses_api_models.replay_model.rollouts_jsonl_fpath=${recorded}`,
    ];
    const run = ["eval", "run", "--resources-server", name, ...replay, "-o", "rollouts.jsonl"];
    const first = await runGym(run, { cwd });
    expect(first.stderr).not.toContain("sandbox_unavailable");
    expect(first.exitCode).toBe(0);
    const rewardsOf = (file: string) => {
      const rows = readFileSync(path.join(cwd, file), "utf8").trim().split("\n");
      const parsed = rows.map((line) => JSON.parse(line) as { instance_id: string; reward: number });
      return Object.fromEntries(parsed.map(({ instance_id, reward }) => [instance_id, reward]));
    };
    const expected = {
      ...{ "tiny__shop-1": 1, "tiny__shop-2": 1, "tiny__shop-3": 1, "tiny__shop-4": 1 },
      // The recorded patch breaks prices with two decimals.
      "tiny__shop-5": 0,
    };
    expect(rewardsOf("rollouts.jsonl")).toEqual(expected);
    const again = await runGym(
      [
        ...["eval", "reverify", "--resources-server", name, "--rollouts", "rollouts.jsonl"],
        ...["--inputs", "rollouts_materialized_inputs.jsonl", "-o", "again.jsonl"],
      ],
      { cwd },
    );
    expect(again.exitCode).toBe(0);
    expect(rewardsOf("again.jsonl")).toEqual(expected);
  },
);
