import { pyEquals, pyStr, strip, toPyFloat, toPyInt } from "nemo-gym/python";
import { parseJson } from "./tool-calls.ts";

export type Arguments = Record<string, unknown>;
export type Family = "bbox" | "point" | "color" | "pair" | "multi" | "scalar" | "unknown";

const families: Record<string, Family> = {
  image_zoom_in_tool: "bbox",
  image_crop_tool: "bbox",
  color_at_tool: "point",
  find_color_tool: "color",
  count_objects_tool: "color",
  image_diff_tool: "pair",
  image_overlay_tool: "pair",
  image_side_by_side_tool: "multi",
  image_rotate_tool: "scalar",
  image_flip_tool: "scalar",
};

const COORDINATES = 1000;
const CHANNEL = 255;
const NUMBER = /[-+]?\p{Nd}*\.?\p{Nd}+(?:[eE][-+]?\p{Nd}+)?/gu;

export function familyOf(tool: string): Family {
  return Object.hasOwn(families, tool) ? (families[tool] ?? "unknown") : "unknown";
}

/** Whether two names mean the same tool. A crop is a zoom without magnification. */
export function sameTool(left: string, right: string, unifyRegions: boolean): boolean {
  const [a, b] = [strip(left), strip(right)];
  return a === b || (unifyRegions && familyOf(a) === "bbox" && familyOf(b) === "bbox");
}

/** Whether both calls use the same pictures. A missing or unreadable index counts as equal. */
export function sameTarget(family: Family, given: Arguments, expected: Arguments): boolean {
  if (family === "unknown") return true;
  if (family === "multi") {
    const [a, b] = [indices(given["img_indices"]), indices(expected["img_indices"])];
    return !a || !b || pyEquals(a, b);
  }
  const keys = family === "pair" ? ["img_idx_a", "img_idx_b"] : ["img_idx"];
  return keys.every((key) => {
    const [a, b] = [toPyInt(given[key]), toPyInt(expected[key])];
    return a === undefined || b === undefined || a === b;
  });
}

/** How well the main argument fits, from 0 to 1, and what was compared. */
export function argumentScore(
  family: Family,
  given: Arguments,
  expected: Arguments,
  tolerance: number,
): [score: number, detail: string] {
  switch (family) {
    case "bbox":
      return scoreBox(readBox(given["bbox_2d"]), readBox(expected["bbox_2d"]));
    case "point":
      return scorePoint(numbers(given["point_2d"], 2), numbers(expected["point_2d"], 2));
    case "color":
      return scoreColor(given["color"], expected["color"]);
    case "scalar":
      return scoreScalar(given, expected, tolerance);
    case "pair":
    case "multi": {
      const [a, b] = [toPyFloat(given["alpha"]), toPyFloat(expected["alpha"])];
      if (a === undefined || b === undefined) return [1, "index_only"];
      return [Number(Math.abs(a - b) <= tolerance), "alpha"];
    }
    case "unknown":
      return [1, "unknown_family"];
  }
}

type Box = readonly number[];

function scoreBox(given: Box | undefined, expected: Box | undefined): [number, string] {
  if (!expected) return [1, "expected_bbox_unparseable"];
  if (!given) return [0, "rollout_bbox_unparseable"];
  // A box without area has no overlap with itself.
  if (pyEquals(given, expected)) return [1, "exact_bbox"];
  return [overlap(given, expected), "iou"];
}

/** Intersection over union. */
function overlap(a: Box, b: Box): number {
  const [ax1 = 0, ay1 = 0, ax2 = 0, ay2 = 0] = a;
  const [bx1 = 0, by1 = 0, bx2 = 0, by2 = 0] = b;
  const width = Math.max(0, Math.min(ax2, bx2) - Math.max(ax1, bx1));
  const height = Math.max(0, Math.min(ay2, by2) - Math.max(ay1, by1));
  const shared = width * height;
  const union = (ax2 - ax1) * (ay2 - ay1) + (bx2 - bx1) * (by2 - by1) - shared;
  return union <= 0 ? 0 : shared / union;
}

/** Four numbers as a list, as JSON text, or the first four in a text; corners in any order. */
function readBox(value: unknown): Box | undefined {
  const given = typeof value === "string" ? parseJson(value, value.match(NUMBER)?.slice(0, 4)) : value;
  const [x1, y1, x2, y2] = numbers(given, 4) ?? [];
  if (x1 === undefined || y1 === undefined || x2 === undefined || y2 === undefined) return undefined;
  return [Math.min(x1, x2), Math.min(y1, y2), Math.max(x1, x2), Math.max(y1, y2)];
}

function scorePoint(given: number[] | undefined, expected: number[] | undefined): [number, string] {
  if (!expected) return [1, "expected_point_unparseable"];
  if (!given) return [0, "rollout_point_unparseable"];
  const [x = 0, y = 0] = given.map((value, at) => value - (expected[at] ?? 0));
  return [Math.max(0, 1 - Math.hypot(x, y) / COORDINATES), "point_distance"];
}

function scoreColor(given: unknown, expected: unknown): [number, string] {
  const [a, b] = [channels(given), channels(expected)];
  if (!a || !b) return pyEquals(given, expected) ? [1, "color_absent"] : [0, "color_mismatch"];
  const difference = a.reduce((sum, value, at) => sum + Math.abs(value - (b[at] ?? 0)), 0);
  return [Math.max(0, 1 - difference / (3 * CHANNEL)), "color_distance"];
}

function scoreScalar(given: Arguments, expected: Arguments, tolerance: number): [number, string] {
  const key = ["degrees", "axis"].find((name) => Object.hasOwn(expected, name));
  if (key === undefined) return [1, "scalar_no_key"];
  const [a, b] = [toPyFloat(given[key]), toPyFloat(expected[key])];
  if (a === undefined || b === undefined) {
    const [left, right] = [given[key], expected[key]].map((value) =>
      strip(pyStr(value ?? null)).toLowerCase(),
    );
    return [Number(left === right), key];
  }
  if (key === "axis") return [Number(Math.abs(a - b) <= tolerance), key];
  const turn = (((a - b) % 360) + 360) % 360;
  return [Number(Math.min(turn, 360 - turn) <= tolerance), key];
}

/** A list of `count` numbers, or its JSON text. */
function numbers(value: unknown, count: number): number[] | undefined {
  const list = listOf(value);
  if (list?.length !== count) return undefined;
  const read = list.map(toPyFloat);
  return read.every((number) => number !== undefined) ? read : undefined;
}

function channels(value: unknown): number[] | undefined {
  const list = listOf(value);
  const read = list?.length === 3 ? list.map(toPyInt) : undefined;
  return read?.every((number) => number !== undefined) ? read.map(Number) : undefined;
}

function indices(value: unknown): number[] | undefined {
  const given = typeof value === "string" ? parseJson(value, undefined) : value;
  const isInteger = typeof given === "boolean" || typeof given === "bigint" || Number.isInteger(given);
  const read = (isInteger ? [given] : listOf(given))?.map(toPyInt);
  if (!read?.every((number) => number !== undefined)) return undefined;
  return read.map(Number).sort((a, b) => a - b);
}

function listOf(value: unknown): unknown[] | undefined {
  const given = typeof value === "string" ? parseJson(value, undefined) : value;
  return Array.isArray(given) ? given : undefined;
}
