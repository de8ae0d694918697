import { growthOf } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { minutesOf } from "./clock.ts";
import { findJsonList } from "./find-list.ts";
import { findFault } from "./grade.ts";

describe("minutesOf", () => {
  it.each([
    ["10am", 600],
    ["12am", 0],
    ["12pm", 720],
    [" 2:15 pm ", 855],
    ["14:15", 855],
    ["25:00", 1500],
    ["9:5", 545],
    ["10", undefined],
    ["10:00:00", undefined],
    ["noon", undefined],
    ["1:2:3am", undefined],
    [600, undefined],
    [null, undefined],
  ])("%j is %j", (time, minutes) => {
    expect(minutesOf(time)).toBe(minutes);
  });
});

describe("findJsonList", () => {
  it.each([
    ['see [note] [{"a": 1}] end', [{ a: 1 }]],
    ['[[{"a": 1}]]', [{ a: 1 }]],
    ['[{"a": "[x]"}]', undefined],
    ['[{"a": "[x]"}, {"b": 1}]', [{ a: "[x]" }, { b: 1 }]],
    ["[{'a': 1}]", undefined],
    ["[1, 2]", undefined],
    ["{}", undefined],
  ])("in %s", (text, list) => {
    expect(findJsonList(text)).toEqual(list);
  });

  it.each([
    ["open brackets", (size: number) => "[".repeat(size)],
    ["braces", (size: number) => "[{".repeat(size)],
    ["an endless list", (size: number) => `[${"{}".repeat(size)}`],
    ["closing brackets", (size: number) => `[{${"]".repeat(size)}`],
    ["no end", (size: number) => `[{"a": "${"x".repeat(size)}`],
  ])("takes linear time for %s", async (_name, text) => {
    const growth = await growthOf((size) => expect(findJsonList(text(size))).toBeUndefined(), 10_000);
    expect(growth).toBeLessThan(1.6);
  });
});

function wanted(constraint: unknown, extra: Record<string, unknown> = {}) {
  return { "0": { event_id: 0, duration: 60, constraint, min_time: "9:00", max_time: "17:00", ...extra } };
}

function calendar(...events: [id: unknown, start: string, duration: unknown][]): string {
  return JSON.stringify(
    events.map(([event_id, start_time, duration]) => ({ event_id, start_time, duration })),
  );
}

describe("findFault", () => {
  it.each([
    ["before 11am", "10:00", undefined],
    ["before 11am", "10:01", "constraint_violated"],
    ["after 11am", "11:00", undefined],
    ["after 11am", "10:59", "constraint_violated"],
    ["between 10am and 12pm", "11:00", undefined],
    ["between 10am and 12pm", "11:30", "constraint_violated"],
    ["at 1pm", "13:00", undefined],
    ["at 1pm", "12:59", "constraint_violated"],
    ["whenever", "16:00", undefined],
    [null, "16:01", "constraint_violated"],
    ["before noon", "9:00", "constraint_violated"],
    [5, "9:00", "constraint_violated"],
  ])("%j at %s: %s", (constraint, start, fault) => {
    expect(findFault(calendar([0, start, 60]), wanted(constraint))).toBe(fault);
  });

  it("compares ids and durations as Python does", () => {
    expect(findFault(calendar(["0", "9:00", 60]), wanted(null))).toBeUndefined();
    expect(
      findFault('[{"event_id": 0, "start_time": "9:00", "duration": 60.0}]', wanted(null)),
    ).toBeUndefined();
    expect(findFault('[{"event_id": 0.0, "start_time": "9:00", "duration": 60}]', wanted(null))).toBe(
      "constraint_violated",
    );
    expect(findFault(calendar([0, "9:00", "60"]), wanted(null))).toBe("bad_event");
  });

  it("finds overlaps, except between an event and its copy", () => {
    const two = { ...wanted(null), "1": { ...wanted(null)["0"], event_id: 1 } };
    expect(findFault(calendar([0, "9:00", 60], [1, "10:00", 60]), two)).toBeUndefined();
    expect(findFault(calendar([0, "9:00", 60], [1, "9:59", 60]), two)).toBe("conflicting_events");
    expect(findFault(calendar([0, "9:00", 60], [0, "9:00", 60]), wanted(null))).toBeUndefined();
  });

  it("requires a list if and only if events are expected", () => {
    expect(findFault("Nice to meet you", {})).toBeUndefined();
    expect(findFault("Nice to meet you", wanted(null))).toBe("no_json_list");
    expect(findFault("", {})).toBe("empty");
    expect(findFault("<think>hm</think> ok", {})).toBe("think_found");
    expect(findFault("hm</think> ok", {})).toBeUndefined();
    expect(findFault(calendar([0, "9:00", 60], [1, "11:00", 60]), wanted(null))).toBe(
      "different_number_of_events",
    );
    expect(findFault('[{"start_time": "9:00"}]', wanted(null))).toBe("bad_event");
  });

  it("limits the number of events", () => {
    const events = Array.from({ length: 3000 }, (_, index): [number, string, number] => [0, "9:00", index]);
    expect(findFault(calendar(...events), wanted(null))).toBe("bad_event");
  });
});
