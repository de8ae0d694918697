import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dumps } from "../../base/python/json/json-dumps.ts";
import { PyFloat } from "../../base/python/numbers/py-float.ts";
import { DatasetStatistics, jsonWordCount } from "./statistics.ts";

function statisticsOf(...rows: Record<string, unknown>[]): DatasetStatistics {
  const statistics = new DatasetStatistics();
  for (const row of rows) statistics.observe(row, { input: "x" });
  return statistics;
}

describe("DatasetStatistics", () => {
  it("counts tools and turns only in rows that have them", () => {
    const statistics = new DatasetStatistics();
    statistics.observe({}, { input: "a b", tools: [] });
    statistics.observe({}, { input: [{ role: "developer", content: "x" }] });
    statistics.observe(
      {},
      { input: [{ role: "user" }, { role: "assistant" }, { role: "user" }], tools: [{}, {}] },
    );
    const summary = statistics.summary();
    expect(summary.examples).toBe(3);
    expect(summary.tools).toMatchObject({ total: 2, average: 1, min: 0, max: 2 });
    expect(summary.turns).toMatchObject({ total: 2, average: 1.5 });
  });

  it("counts an empty string input as a turn and ignores a null temperature", () => {
    const statistics = new DatasetStatistics();
    statistics.observe({}, { input: "", temperature: null });
    statistics.observe({}, { input: "", temperature: 0.7 });
    expect(statistics.summary().turns.total).toBe(2);
    expect(statistics.summary().temperature).toMatchObject({ total: 1, average: 0.7 });
  });

  it("counts the elements of lists and ignores values that are neither numbers nor text", () => {
    const summary = statisticsOf(
      {
        marks: [1, 2.5, false],
        tags: ["a", "b", "a"],
        grid: [[1]],
        meta: { n: 1 },
        none: null,
        response: { n: 1 },
      },
      { marks: 4, tags: "c" },
    ).summary();
    expect([...summary.fields.keys()]).toEqual(["marks", "tags"]);
    expect(summary.fields.get("marks")?.value).toMatchObject({ total: 4, average: 1.88 });
    expect(summary.fields.get("tags")?.value).toEqual({ uniqueCount: 3, totalCount: 4 });
  });

  it("counts repeats as rows", () => {
    const statistics = new DatasetStatistics();
    statistics.observe({ n: 1 }, { input: "x" }, 3);
    statistics.observe({ n: 2 }, { input: "x" }, 3);
    const summary = statistics.summary();
    expect(summary.examples).toBe(6);
    expect(summary.fields.get("n")?.value).toMatchObject({
      total: 6,
      average: 1.5,
      standardDeviation: 0.548,
    });
  });

  it.each([
    [{ k: 1 }, { k: "one" }],
    [{ k: "one" }, { k: 1 }],
    [{ k: [1, "one"] }, {}],
  ])("rejects a field that is text and number: %j then %j", (first, second) => {
    expect(() => statisticsOf(first, second)).toThrow("The row field 'k' contains text in some places");
  });

  it("rejects a field with the name of a built-in statistic", () => {
    expect(() => statisticsOf({ temperature: 0.5 }).summary()).toThrow("The row field 'temperature'");
    expect(() => statisticsOf({ temperature: null }).summary()).not.toThrow();
  });

  it.each(["_id", "schema", "copy", "model_dump"])("does not show the field %s, as upstream", (name) => {
    expect([
      ...statisticsOf({ [name]: 1, level: 2 })
        .summary()
        .fields.keys(),
    ]).toEqual(["level"]);
  });

  it("merges built-in statistics and keeps the row fields of the last dataset", () => {
    const merged = statisticsOf({ level: 1, kind: "x" }, { level: 2, kind: "y" });
    merged.merge(statisticsOf({ level: 10 }));
    const summary = merged.summary();
    expect(summary.examples).toBe(3);
    expect(summary.words.total).toBe(3);
    expect(summary.fields.get("level")?.value).toMatchObject({ total: 1, average: 10 });
    expect(summary.fields.get("kind")?.value).toEqual({ uniqueCount: 2, totalCount: 2 });
    expect([...summary.fields.keys()]).toEqual(["level", "kind"]);
  });
});

describe("jsonWordCount", () => {
  it.each([
    [{ input: "a b c" }, 4],
    [{ input: "" }, 2],
    [{ input: " a  b " }, 5],
    [{ input: "tab\there\nand\u3000there" }, 2],
    [[], 1],
    [{}, 1],
    [[1, 2.5, null, true], 4],
    [{ ratio: new PyFloat(1), count: 2n ** 64n }, 4],
    [{ "two words": [{}], other: [] }, 5],
  ])("counts %o", (value, expected) => {
    expect(jsonWordCount(value)).toBe(expected);
  });

  it("agrees with the text of Python", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(jsonWordCount(value)).toBe(
          dumps(value)
            .split(" ")
            .filter((piece) => piece !== "").length,
        );
      }),
    );
  });
});
