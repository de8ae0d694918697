import { describe, expect, it } from "vitest";
import { loads } from "../../base/python/json/json-loads.ts";
import { metricsDifferences } from "./metrics-file.ts";

const differences = (previous: string, current: string) =>
  metricsDifferences(loads(previous, { allowNonFinite: true }), loads(current, { allowNonFinite: true }));

describe("metricsDifferences", () => {
  it.each([
    ['{"a": 1.5}', '{"a": 1.505}'],
    ['{"a": 0.5}', '{"a": 0.5005}'],
    ['{"a": 1}', '{"a": 1.0}'],
    ['{"a": 1.0}', '{"a": true}'],
    ['{"a": NaN}', '{"a": NaN}'],
    ['{"a": -Infinity}', '{"a": -Infinity}'],
    ['{"a": 1}', '{"a": 1, "b": 2}'],
    ['{"a": [1, "x", {"k": 1.0}]}', '{"a": [{"k": 1.001, "more": 1}, 1, "x"]}'],
    ['{"a": 12345678901234567890}', '{"a": 12345678901234567890}'],
    ["{}", "{}"],
  ])("%s agrees with %s", (previous, current) => {
    expect(differences(previous, current)).toEqual([]);
  });

  it.each([
    ['{"a": 1.5}', '{"a": 1.506}'],
    ['{"a": 0.5}', '{"a": 0.5006}'],
    ['{"a": 4}', '{"a": 4.003}'],
    ['{"a": 4}', '{"a": 5}'],
    ['{"a": "4"}', '{"a": 4}'],
    ['{"a": null}', '{"a": 0}'],
    ['{"a": {"b": 1}}', '{"a": 1}'],
    ['{"a": [1, 1, 2]}', '{"a": [1, 2, 2]}'],
    ['{"a": [1]}', '{"a": [1, 1]}'],
    ['{"a": NaN}', '{"a": 1.5}'],
  ])("%s differs from %s", (previous, current) => {
    expect(differences(previous, current)).toHaveLength(1);
  });

  it("shows the path and both values", () => {
    expect(differences('{"n": {"Average": 2.0}, "gone": 1}', '{"n": {"Average": 3.5}}')).toEqual([
      "n -> Average: was 2.0, is 3.5",
      "gone: was 1, is gone",
    ]);
  });
});
