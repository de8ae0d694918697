import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { artifactPaths } from "../records/files/artifact-paths.ts";
import { ReceivedReply } from "../servers/calls/run-client.ts";
import type { ServerClient } from "../servers/calls/server-client.ts";
import { summarizeRun } from "./summarize.ts";

it("computes the default metrics when a server returns something else", async () => {
  const directory = await mkdtemp(join(tmpdir(), "summarize-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const paths = artifactPaths(join(directory, "out.jsonl"));
  const judges = [{ server: "judge_model", model: "grader-1", calls: 3 }];
  const row = {
    reward: 1,
    response: {},
    agent_ref: { name: "a" },
    _ng_judge: { calls: 3, judges },
    _ng_task_index: 0,
    _ng_rollout_index: 0,
  };
  await writeFile(paths.output, `${JSON.stringify(row)}\n`);
  const client = {
    post: async () => new ReceivedReply({ status: 200, cookies: {}, body: {} }),
  } as unknown as ServerClient;
  const notices: string[] = [];
  const summary = await summarizeRun({
    paths,
    totals: undefined,
    client,
    onNotice: (text) => notices.push(text),
  });
  expect(summary.agents[0]?.metrics.key_metrics).toEqual({ "mean/reward": 1 });
  expect(summary.judges).toEqual(judges);
  expect(JSON.parse(await readFile(paths.statistics, "utf8"))).toMatchObject({ judges });
  expect(notices).toEqual([expect.stringContaining("a could not aggregate its metrics")]);
  expect(await readFile(paths.aggregateMetrics, "utf8")).toContain("mean/reward");
});
