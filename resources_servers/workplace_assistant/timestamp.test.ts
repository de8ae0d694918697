import { growthOf } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { NOT_A_TIME, parseTimestamp } from "./timestamp.ts";

const read = (text: string) => {
  const timestamp = parseTimestamp(text);
  return timestamp && new Date(timestamp.time).toISOString().slice(0, 19).replace("T", " ");
};

describe("parseTimestamp", () => {
  it.each([
    ["2023-11-30", "2023-11-30 00:00:00"],
    ["2023-11-30 09:05", "2023-11-30 09:05:00"],
    ["2023-11-30T09:05:07.5", "2023-11-30 09:05:07"],
    ["2023-11-30 10", "2023-11-30 10:00:00"],
    ["20231130", "2023-11-30 00:00:00"],
    ["20231130T0905", "2023-11-30 09:05:00"],
    ["2023-11", "2023-11-01 00:00:00"],
    ["2023", "2023-01-01 00:00:00"],
    ["November 30, 2023", "2023-11-30 00:00:00"],
    ["30 Nov 2023 9am", "2023-11-30 09:00:00"],
    ["Thursday, Nov 30 2023 at 14:00", "2023-11-30 14:00:00"],
    ["Nov 30, 2023 2:30 PM", "2023-11-30 14:30:00"],
    ["12:15 a.m. 1st December 2023", "2023-12-01 00:15:00"],
    ["11/30/2023", "2023-11-30 00:00:00"],
    ["13/11/2023", "2023-11-13 00:00:00"],
    ["30.11.2023", "2023-11-30 00:00:00"],
    ["12/5/23", "2023-12-05 00:00:00"],
    ["Dec 5 23", "2023-12-05 00:00:00"],
    ["Sept 3 2023", "2023-09-03 00:00:00"],
    ["5 Dec", "0001-12-05 00:00:00"],
    ["20231130 09:05", "2023-11-30 09:05:00"],
    ["20231130T09:05:07Z", "2023-11-30 09:05:07"],
    ["20231130, 2pm", "2023-11-30 14:00:00"],
    ["2023-11-30 9:5", "2023-11-30 09:05:00"],
    ["2023-11-30 0905", "2023-11-30 09:05:00"],
    ["Nov 30, 2023 09", "2023-11-30 09:00:00"],
    ["30-Nov-2023T09", "2023-11-30 09:00:00"],
    ["2023-11-30 9h", "2023-11-30 09:00:00"],
    ["11-2023", "2023-11-01 00:00:00"],
    ["11-2023 14:00", "2023-11-01 14:00:00"],
    ["2023-Q4", "2023-10-01 00:00:00"],
    ["2Q2023", "2023-04-01 00:00:00"],
    ["9am", "0001-01-01 09:00:00"],
    ["at 10:30", "0001-01-01 10:30:00"],
  ])("reads %j", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  it("reads a time without a date as today", () => {
    expect(read("10:30")).toBe(`${new Date().toISOString().slice(0, 10)} 10:30:00`);
  });

  it("reads now and today", () => {
    for (const text of ["now", "today"])
      expect(Math.abs((parseTimestamp(text)?.time ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it("uses the time zone in the text", () => {
    expect(parseTimestamp("2023-11-30T10:00:00+02:00")).toEqual({
      time: Date.UTC(2023, 10, 30, 8),
      zoned: true,
    });
    expect(parseTimestamp("2023-11-30 10:00Z")).toEqual({ time: Date.UTC(2023, 10, 30, 10), zoned: true });
    expect(parseTimestamp("2023-11-30")?.zoned).toBe(false);
  });

  it.each([
    "garbage",
    "tomorrow",
    "2023-13-01",
    "2023-02-30",
    "25:00",
    "2023-11-30 24:00:00",
    "13pm 2023",
    "5",
    "1 2 3 4",
    "2023-011",
    "2023-11-30 2500",
  ])("refuses %j", (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  it("recognizes text that means no time", () => {
    for (const text of ["NaT", "nan", " "]) expect(parseTimestamp(text)).toBe(NOT_A_TIME);
  });

  it("takes linear time", async () => {
    const parse = (size: number) => expect(parseTimestamp("1:".repeat(size))).toBeUndefined();
    expect(await growthOf(parse, 10_000)).toBeLessThan(1.6);
  });
});
