import { createTestServer, functionCallItem, growthOf, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { argumentScore, type Family, sameTarget } from "./score.ts";
import { readToolCalls } from "./tool-calls.ts";

const expected_action = { name: "image_zoom_in_tool", arguments: { bbox_2d: [0, 0, 100, 100], img_idx: 0 } };
const call = (name: string, args: unknown) =>
  `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;

async function verify(text: string, config = {}, row: Record<string, unknown> = { expected_action }) {
  const server = await createTestServer(definition, { config });
  const { body } = await server.verify(verifyBody(row, messageItem(text)));
  await server.close();
  return body;
}

describe("image_tools", () => {
  it.each([
    [call("image_zoom_in_tool", { bbox_2d: [0, 0, 100, 100] }), "none", 1],
    [call("image_crop_tool", { bbox_2d: "100 100 0 0" }), "none", 1],
    [call("image_zoom_in_tool", { bbox_2d: [0, 0, 50, 100] }), "none", 1],
    [call("image_zoom_in_tool", { bbox_2d: [0, 0, 49, 100] }), "argument_below_threshold", 0],
    [call("image_zoom_in_tool", { bbox_2d: [0, 0, 100, 100], img_idx: 1 }), "target_mismatch", 0],
    [call("image_flip_tool", {}), "tool_name_mismatch", 0],
    [call("image_zoom_in_tool", "x"), "unknown_error", 0],
    ["zoom in", "no_tool_call_in_rollout", 0],
  ])("%s: %s", async (text, failure_reason, reward) => {
    expect(await verify(text)).toMatchObject({ failure_reason, reward });
  });

  it("rewards the score itself if asked", async () => {
    const half = call("image_zoom_in_tool", { bbox_2d: [0, 0, 25, 100] });
    expect((await verify(half, { reward_mode: "continuous" })).reward).toBe(0.25);
  });

  it("requires the exact tool if asked", async () => {
    const crop = call("image_crop_tool", { bbox_2d: [0, 0, 100, 100] });
    expect((await verify(crop, { unify_region_inspect_tools: false })).reward).toBe(0);
  });

  it("punishes a second call", async () => {
    const twice = call("image_zoom_in_tool", { bbox_2d: [0, 0, 100, 100] }).repeat(2);
    expect(await verify(twice)).toMatchObject({ reward: 0, num_rollout_tool_calls: 2 });
    expect((await verify(twice, { penalize_extra_tool_calls: false })).reward).toBe(1);
  });

  it("finds the expected call in other places", async () => {
    const same = call("image_zoom_in_tool", { bbox_2d: [0, 0, 100, 100] });
    expect((await verify(same, {}, { metadata: { expected_action } })).reward).toBe(1);
    expect((await verify(same, {}, { expected_answer: JSON.stringify(expected_action) })).reward).toBe(1);
    expect((await verify(same, {}, {}))["failure_reason"]).toBe("expected_action_invalid");
  });

  it("ignores native function calls", async () => {
    const server = await createTestServer(definition);
    const item = functionCallItem(expected_action.name, expected_action.arguments);
    const { body } = await server.verify(verifyBody({ expected_action }, item));
    expect(body).toMatchObject({ reward: 0, failure_reason: "no_tool_call_in_rollout" });
    await server.close();
  });
});

describe("argumentScore", () => {
  it.each<[Family, object, object, number, string]>([
    ["point", { point_2d: [0, 0] }, { point_2d: [300, 400] }, 0.5, "point_distance"],
    ["point", { point_2d: "x" }, { point_2d: [0, 0] }, 0, "rollout_point_unparseable"],
    ["color", { color: [255, 0, 0] }, { color: [0, 0, 0] }, 2 / 3, "color_distance"],
    ["color", { color: "red" }, { color: "blue" }, 0, "color_mismatch"],
    ["scalar", { degrees: -10 }, { degrees: 350 }, 1, "degrees"],
    ["scalar", { axis: " Horizontal" }, { axis: "horizontal" }, 1, "axis"],
    ["scalar", {}, { axis: "horizontal" }, 0, "axis"],
    ["scalar", {}, {}, 1, "scalar_no_key"],
    ["pair", { alpha: 0.4 }, { alpha: 0.5 }, 0, "alpha"],
    ["multi", {}, {}, 1, "index_only"],
    ["unknown", {}, {}, 1, "unknown_family"],
    ["bbox", { bbox_2d: [1, 1, 1, 5] }, { bbox_2d: [1, 1, 1, 5] }, 1, "exact_bbox"],
    ["bbox", {}, {}, 1, "expected_bbox_unparseable"],
  ])("%s %j and %j", (family, given, expected, score, detail) => {
    const [found, what] = argumentScore(family, { ...given }, { ...expected }, 1e-6);
    expect(found).toBeCloseTo(score, 12);
    expect(what).toBe(detail);
  });
});

it.each<[Family, object, object, boolean]>([
  ["multi", { img_indices: [1, 0] }, { img_indices: "[0, 1]" }, true],
  ["multi", { img_indices: 0 }, { img_indices: [0, 1] }, false],
  ["pair", { img_idx_a: 0 }, { img_idx_a: 0, img_idx_b: 1 }, true],
  ["pair", { img_idx_a: 1 }, { img_idx_a: 0 }, false],
  ["bbox", { img_idx: "x" }, { img_idx: 0 }, true],
])("pictures of %s %j and %j", (family, given, expected, same) => {
  expect(sameTarget(family, { ...given }, { ...expected })).toBe(same);
});

describe("readToolCalls", () => {
  it("reads both forms, the XML form first", () => {
    const xml =
      "<tool_call> <function=a><parameter=x> [1] </parameter><parameter=y>b c</parameter></function> </tool_call>";
    expect(readToolCalls(`${call("b", { z: 1 })} and ${xml}`)).toEqual([
      { name: "a", arguments: { x: [1], y: "b c" } },
      { name: "b", arguments: { z: 1 } },
    ]);
  });

  it.each([
    "<tool_call>",
    "<tool_call><function=",
    "<tool_call><function=a>",
    "<tool_call>{",
    "<parameter=",
    "} ",
  ])("takes linear time for %j", async (part) => {
    const read = (size: number) => readToolCalls(part.repeat(size / part.length));
    expect(await growthOf(read, 100_000)).toBeLessThan(1.6);
  });
});
