import { describe, expect, it } from "vitest";
import { ByteProgress, duration } from "./progress.ts";
import { renderTable } from "./table.ts";
import { createTerminal } from "./terminal.ts";
import { textWidth, wrapText } from "./text-width.ts";

const stream = (options: { isTTY?: boolean; columns?: number } = {}) => {
  const written: string[] = [];
  return { ...options, written, write: (text: string) => written.push(text) };
};

describe("createTerminal", () => {
  it("uses colour only on a terminal", () => {
    expect(createTerminal(stream(), {}).red("x")).toBe("x");
    expect(createTerminal(stream({ isTTY: true }), {}).red("x")).toBe("\u001b[31mx\u001b[0m");
  });

  it("respects NO_COLOR, FORCE_COLOR and dumb terminals", () => {
    expect(createTerminal(stream({ isTTY: true }), { NO_COLOR: "1" }).red("x")).toBe("x");
    expect(createTerminal(stream({ isTTY: true }), { TERM: "dumb" }).red("x")).toBe("x");
    expect(createTerminal(stream(), { FORCE_COLOR: "1" }).red("x")).not.toBe("x");
    expect(createTerminal(stream({ isTTY: true }), { FORCE_COLOR: "0" }).red("x")).toBe("x");
  });

  it("takes the width from COLUMNS, then the stream, then 80", () => {
    expect(createTerminal(stream({ columns: 120 }), { COLUMNS: "50" }).width).toBe(50);
    expect(createTerminal(stream({ columns: 120 }), {}).width).toBe(120);
    expect(createTerminal(stream(), { COLUMNS: "wide" }).width).toBe(80);
  });
});

describe("text", () => {
  it("is measured in columns", () => {
    expect(textWidth("a\u001b[31mb\u001b[0m")).toBe(2);
    expect(textWidth("漢字")).toBe(4);
    expect(textWidth("e\u0301")).toBe(1);
  });

  it("is wrapped at spaces, and long words are split", () => {
    expect(wrapText("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrapText("abcdefghij k", 4)).toEqual(["abcd", "efgh", "ij k"]);
    expect(wrapText("a\nb", 10)).toEqual(["a", "b"]);
  });
});

describe("renderTable", () => {
  const table = {
    title: "Things (2)",
    columns: ["Name", "Description"],
    rows: [
      ["mcqa", "multiple choice questions with one right answer"],
      ["漢", "—"],
    ],
  };

  it("is never truncated without a terminal", () => {
    expect(renderTable(table, createTerminal(stream(), { COLUMNS: "20" }))).toMatchInlineSnapshot(`
      "Things (2)
      ┌──────┬─────────────────────────────────────────────────┐
      │ Name │ Description                                     │
      ├──────┼─────────────────────────────────────────────────┤
      │ mcqa │ multiple choice questions with one right answer │
      │ 漢   │ —                                               │
      └──────┴─────────────────────────────────────────────────┘"
    `);
  });

  it("is wrapped to the width of a terminal", () => {
    const terminal = createTerminal(stream({ isTTY: true, columns: 32 }), { NO_COLOR: "1" });
    expect(renderTable(table, terminal)).toMatchInlineSnapshot(`
      "Things (2)
      ┌──────┬───────────────────────┐
      │ Name │ Description           │
      ├──────┼───────────────────────┤
      │ mcqa │ multiple choice       │
      │      │ questions with one    │
      │      │ right answer          │
      │ 漢   │ —                     │
      └──────┴───────────────────────┘"
    `);
  });
});

describe("a table with optional columns", () => {
  const table = {
    columns: ["Name", "Status", "Domain", "Description"],
    optional: ["Status", "Domain"],
    rows: [
      ["resources_servers/calendar/calendar_v2", "no-manifest", "agent", "Scheduling over several turns"],
      ["mcqa", "experimental", "knowledge", "Multiple choice questions with one right answer"],
    ],
  };
  const at = (columns: number) =>
    renderTable(table, createTerminal(stream({ isTTY: true, columns }), { NO_COLOR: "1" }));

  it("shows all columns if they fit, and without a terminal", () => {
    expect(at(120)).toContain("Status");
    expect(renderTable(table, createTerminal(stream(), { COLUMNS: "60" }))).toContain("experimental");
  });

  it("omits the least important columns first, and names them", () => {
    expect(at(80)).toContain("Domain");
    expect(at(80)).toMatch(/\nNot shown at this width: Status\.$/);
    expect(at(60)).toMatch(/\nNot shown at this width: Status, Domain\.$/);
  });

  it("fits the width and splits only long names, after a slash", () => {
    for (const width of [60, 80, 100]) {
      const lines = at(width).split("\n");
      expect(lines.every((line) => textWidth(line) <= width)).toBe(true);
      const words = table.rows.flatMap((row) => (row[3] ?? "").split(" "));
      for (const word of words) expect(at(width)).toContain(word);
    }
    expect(at(60)).toMatch(/│ resources_servers\/calendar\/ +│/);
    expect(at(60)).toMatch(/│ calendar_v2 +│/);
  });
});

describe("ByteProgress", () => {
  it("redraws one line on a terminal, at most ten times a second, and clears it", () => {
    let time = 0;
    const target = stream({ isTTY: true, columns: 80 });
    const progress = new ByteProgress(target, { NO_COLOR: "1" }, () => time);
    progress.update("rows", 0, 4_000);
    time = 50;
    progress.update("rows", 1_000, 4_000);
    time = 2000;
    progress.update("rows", 2_000, 4_000);
    progress.update("unknown size", 2_000, undefined);
    progress.update("more", 500, 500);
    progress.clear();
    progress.clear();
    expect(target.written).toEqual([
      "\r\u001b[Krows ░░░░░░░░░░░░░░░░░░░░░░░░   0% 0/4 [0s] kB",
      "\r\u001b[Krows ████████████░░░░░░░░░░░░  50% 2/4 [2s, 2s left] kB",
      "\r\u001b[K",
      "\r\u001b[Kmore ████████████████████████ 100% 1/1 [0s] kB",
      "\r\u001b[K",
    ]);
  });

  it("writes a line at intervals without a terminal", () => {
    let time = 0;
    const target = stream();
    const progress = new ByteProgress(target, {}, () => time);
    for (const step of [1, 2, 3]) {
      progress.update("rows", step * 1000, 3_000);
      time += 9_000;
    }
    progress.clear();
    expect(target.written).toEqual(["rows ████████████████████████ 100% 3/3 [18s] kB\n"]);
  });

  it("never exceeds the width", () => {
    const target = stream({ isTTY: true, columns: 30 });
    new ByteProgress(target, {}).update("A long label for rollouts", 1, 1);
    expect(textWidth((target.written[0] ?? "").slice("\r\u001b[K".length))).toBeLessThan(30);
  });
});

describe("duration", () => {
  it("uses two units at most", () => {
    expect([41_000, 185_000, 7_440_000].map(duration)).toEqual(["41s", "3m 05s", "2h 04m"]);
  });
});
