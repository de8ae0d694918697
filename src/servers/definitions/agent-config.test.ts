import { describe, expect, it } from "vitest";
import type { ResponseOutputItem } from "../../wire/schemas/responses.ts";
import { EmptyTurns } from "./agent-config.ts";

const thought = { type: "reasoning", id: "rs", summary: [] } as unknown as ResponseOutputItem;
const call = { type: "function_call", name: "a", arguments: "{}", call_id: "c" } as ResponseOutputItem;

describe("empty turns", () => {
  it("end the rollout at the limit, with or without reasoning", () => {
    const turns = new EmptyTurns(3);
    expect([turns.isOver([]), turns.isOver([thought]), turns.isOver([])]).toEqual([false, false, true]);
    expect(turns.note).toContain("3 times in a row");
  });

  it("are counted from zero after a call", () => {
    const turns = new EmptyTurns(2);
    expect([turns.isOver([]), turns.isOver([thought, call]), turns.isOver([])]).toEqual([
      false,
      false,
      false,
    ]);
    expect(turns.isOver([])).toBe(true);
  });

  it.each([null, undefined, 0])("have no limit with %s", (most) => {
    const turns = new EmptyTurns(most);
    expect(Array.from({ length: 100 }, () => turns.isOver([]))).not.toContain(true);
  });
});
