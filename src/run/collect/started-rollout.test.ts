import { expect, it, onTestFinished, vi } from "vitest";
import { StartedRollout } from "./started-rollout.ts";

function started() {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 31), toFake: ["Date", "performance"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const queued = { row: {}, agent: "a", taskIndex: 3, rolloutIndex: 1, attempt: 0 };
  return new StartedRollout(
    queued as unknown as StartedRollout["queued"],
    { server: "a", path: "/run", stage: "run" },
    null,
  );
}

it("records the times of the seed and verify stages", () => {
  const rollout = started();
  vi.advanceTimersByTime(10);
  for (const [stage, milliseconds] of [
    ["seed", 200],
    ["model", 1000],
    ["tool", 300],
    ["model", 500],
    ["verify", 250],
  ] as const) {
    rollout.entered(stage);
    vi.advanceTimersByTime(milliseconds);
  }
  expect(rollout.timing()).toEqual({
    started_at: "2026-01-31T00:00:00.000Z",
    seconds: 2.26,
    model_calls: 2,
    seed: { at: 0.01, seconds: 0.2 },
    verify: { at: 2.01, seconds: 0.25 },
  });
});

it("omits stages that were not reported", () => {
  const rollout = started();
  vi.advanceTimersByTime(40);
  expect(rollout.timing()).toEqual({ started_at: "2026-01-31T00:00:00.000Z", seconds: 0.04 });
});
