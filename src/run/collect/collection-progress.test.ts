import { expect, it } from "vitest";
import { Trouble } from "./collection-progress.ts";

it("counts the warnings since the last success", () => {
  const trouble = new Trouble();
  expect(trouble.snapshot(0)).toBeNull();
  trouble.warned("model", "503 from host", 1_000);
  trouble.warned("model", "504 from host", 2_000);
  expect(trouble.snapshot(4_000)).toEqual({
    server: "model",
    message: "504 from host",
    seconds: 3,
    warnings: 2,
  });
  trouble.over();
  expect(trouble.snapshot(5_000)).toBeNull();
});

it("does not report conversion losses as the reason of a wait", () => {
  const trouble = new Trouble();
  trouble.warned("model", "a conversion leaves out tools.strict: chat backends are not asked for it", 0);
  trouble.warned("model", "warning: a conversion leaves out text: chat backends have no such setting", 0);
  // With observability the lines begin with the rollout.
  trouble.warned(
    "model",
    "[0-1] warning: a conversion leaves out tools.strict: chat backends are not asked",
    0,
  );
  expect(trouble.snapshot(9_000)).toBeNull();
});
