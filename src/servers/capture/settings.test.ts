import { expect, it } from "vitest";
import { capturesTokens, tokenCaptureSettings } from "./settings.ts";

const settings = (block: unknown, more: object = {}) =>
  tokenCaptureSettings({ token_id_capture: block, ...more });

it("is off by default", () => {
  expect(tokenCaptureSettings({})).toBeUndefined();
  expect(settings(null)).toBeUndefined();
  expect(settings({ enabled: false, dir: "relative" })).toBeUndefined();
});

it("fills in defaults and uses the directory of model calls", () => {
  expect(settings({ enabled: true }, { model_call_capture_dir: "/captures" })).toEqual({
    allAgents: false,
    directory: "/captures",
    sink: undefined,
    sinkOptions: {},
    rebuildResponse: true,
    maxMaskFraction: undefined,
    maskFractionMinSamples: 50,
  });
  expect(settings({ enabled: "true", dir: "/own" }, { model_call_capture_dir: "/c" })?.directory).toBe(
    "/own",
  );
});

it("rejects unknown keys and wrong values, even if it is not enabled", () => {
  expect(() => settings({ enabled: true, dirr: "/x" })).toThrow(/unknown token_id_capture\.dirr/);
  expect(() => settings({ enabled: false, dirr: "/x" })).toThrow(/known keys: enabled/);
  expect(() => settings({ enabled: true, dir: "/x", max_mask_fraction: 2 })).toThrow(/max_mask_fraction/);
  expect(() => settings({ enabled: true, sink: "no_class" })).toThrow(/module:Class/);
  expect(() => settings("yes")).toThrow(/token_id_capture/);
});

it("requires an absolute directory unless a sink is set or responses are not rebuilt", () => {
  expect(() => settings({ enabled: true })).toThrow(/it is missing/);
  expect(() => settings({ enabled: true, dir: "here" })).toThrow(/it is 'here'/);
  expect(settings({ enabled: true, rebuild_response: false })?.directory).toBeUndefined();
  expect(settings({ enabled: true, sink: "./sink.js:Sink" })?.directory).toBeUndefined();
});

it("applies to agents that enable it, or to all", () => {
  const some = settings({ enabled: true, dir: "/x" });
  expect(capturesTokens(some, { token_id_capture: true })).toBe(true);
  expect(capturesTokens(some, { token_id_capture: "true" })).toBe(true);
  expect(capturesTokens(some, { token_id_capture: "****" })).toBe(false);
  expect(capturesTokens(some, {})).toBe(false);
  expect(capturesTokens(settings({ enabled: true, dir: "/x", all_agents: true }), {})).toBe(true);
  expect(capturesTokens(undefined, { token_id_capture: true })).toBe(false);
});
