import { expect, it, onTestFinished } from "vitest";
import { StartWatch, startLimitSeconds, waitingText } from "./start-watch.ts";

it("reports pending servers and rejects at the limit", async () => {
  const told: string[] = [];
  const watch = new StartWatch(["a", "b", "c"], {
    limitSeconds: 0.2,
    tellEveryMs: 30,
    onWaiting: (servers, seconds) => told.push(waitingText({ servers, seconds })),
  });
  onTestFinished(() => watch.stop());
  watch.ready("b");
  await expect(watch.overdue).rejects.toThrow(
    "Not ready within 0.2 s (server_start_limit_seconds): 'a', 'c'.",
  );
  expect(told[0]).toBe("Still waiting for a, c (0 s)");
});

it("reads the limit", () => {
  expect(startLimitSeconds({})).toBe(3_600);
  expect(startLimitSeconds({ server_start_limit_seconds: null })).toBeNull();
  expect(() => startLimitSeconds({ server_start_limit_seconds: "soon" })).toThrow("above 0");
});
