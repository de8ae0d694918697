import { describe, expect, it } from "vitest";
import { artifactPaths } from "../../records/files/artifact-paths.ts";
import type { EvaluationEvent } from "../../run/run.ts";
import type { ServersEvent } from "../../servers/hosting/processes/run-servers.ts";
import { evaluationJsonEvent, finishedJsonEvent, serverJsonEvent } from "./json-events.ts";

const progress = { total: 1, by_agent: { myAgent: { done: 1, mean_reward: 1 } } } as never;
const result = {
  completed: 1,
  failed: 0,
  cancelled: 0,
  stoppedEarly: undefined,
  resumable: 0,
  outOfAttempts: 0,
  maxAttempts: 3,
  progress,
};
const rollout = { taskIndex: 1, rolloutIndex: 2, agent: "a", attempt: 0, milliseconds: 5, willRetry: false };
const summary = {
  materializedRows: 2,
  done: 1,
  failedAttempts: 0,
  rolloutsWithFailures: 0,
  terminal: 0,
  exhausted: 0,
  remaining: 1,
  duplicates: 0,
  duplicateLines: [],
  tornOutput: false,
  tornFailures: false,
};
const failure = { class: "timeout", stage: "model", retryable: true, message: "late" } as const;

const evaluationEvents: Exclude<EvaluationEvent, { type: "started" }>[] = [
  { type: "notice", text: "x" },
  { type: "prepared", paths: artifactPaths("/out.jsonl"), resumed: true, summary },
  { type: "outcome", ...rollout, outcome: { status: "completed", row: { reward: 1 } } as never },
  { type: "outcome", ...rollout, outcome: { status: "failed", failure } as never },
  { type: "outcome", ...rollout, outcome: { status: "cancelled", message: "stop" } as never },
  { type: "collected", result },
  {
    type: "summarized",
    summary: {
      agents: [
        { agent: "a", metrics: { key_metrics: { "mean/reward": 1 } } as never, statistics: undefined },
      ],
      coverage: { expected: 1, ok: 1, masked: 0, failed: 0, missing: 0 },
      turnBoundaries: null,
      judges: [],
    },
  },
];
const serverEvents: ServersEvent[] = [
  { type: "starting", server: "s", placement: "cohosted", url: "u", log: undefined },
  { type: "installing", server: "s" },
  { type: "ready", server: "s", url: "u", milliseconds: 1 },
  { type: "log", server: "s", line: "l", level: "warn" },
  { type: "lag", lag: { lagMs: 1, heldMs: 2, server: undefined, path: undefined } },
  { type: "crashed", server: "s", message: "m", lastLines: ["x"] },
];

function* keysOf(value: unknown): Generator<string> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (!Array.isArray(value)) yield key;
    // Below these the keys are names of agents.
    if (key !== "by_agent") yield* keysOf(member);
  }
}

describe("events of --json", () => {
  const lines = [
    ...evaluationEvents.map(evaluationJsonEvent),
    ...serverEvents.map(serverJsonEvent),
    finishedJsonEvent({ paths: artifactPaths("/out.jsonl"), result, summary: undefined }),
  ];

  it.each(lines.map((line) => [line.event, line]))("%s has keys in snake_case", (_, line) => {
    for (const key of keysOf(line)) expect(key).not.toMatch(/[A-Z]/);
  });

  it("includes each outcome of a rollout", () => {
    const [completed, failed, cancelled] = evaluationEvents.slice(2, 5).map(evaluationJsonEvent);
    expect(completed).toEqual({
      event: "rollout",
      task_index: 1,
      rollout_index: 2,
      agent: "a",
      attempt: 0,
      milliseconds: 5,
      will_retry: false,
      status: "completed",
      reward: 1,
    });
    expect(failed).toMatchObject({ status: "failed", ...failure });
    expect(cancelled).toMatchObject({ status: "cancelled", message: "stop" });
  });
});
