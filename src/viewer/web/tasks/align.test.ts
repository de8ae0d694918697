import { describe, expect, it } from "vitest";
import { conversationOf } from "../../conversation/conversation.ts";
import { commonLength, firstDivergence, turnsOf } from "./align.ts";

const said = (text: string) => ({ type: "message", role: "assistant", content: text });
const call = (id: string, name: string) => ({ type: "function_call", call_id: id, name, arguments: "{}" });
const output = (id: string, text: string) => ({ type: "function_call_output", call_id: id, output: text });
const turns = (items: unknown[], input = "hello") =>
  turnsOf(conversationOf({ responses_create_params: { input }, response: { output: items } }));
const compared = (...repeats: ReturnType<typeof turns>[]) =>
  firstDivergence(
    Array.from({ length: Math.max(...repeats.map((own) => own.length)) }, (_, turn) =>
      repeats.map((own) => own[turn] ?? []),
    ),
  );

describe("firstDivergence", () => {
  it("returns the turn and the item", () => {
    const begin = [call("1", "look"), output("1", "a wall")];
    expect(compared(turns([...begin, said("left")]), turns([...begin, said("right")]))).toEqual({
      turn: 2,
      item: 0,
    });
    // The same call with another output; the second of two calls.
    expect(compared(turns(begin), turns([call("9", "look"), output("9", "a door")]))).toEqual({
      turn: 1,
      item: 0,
    });
    expect(
      compared(turns([call("1", "look"), call("2", "up")]), turns([call("1", "look"), call("2", "down")])),
    ).toEqual({ turn: 1, item: 1 });
  });

  it("reports an item that only one repeat has", () => {
    expect(compared(turns([said("a")]), turns([said("a"), output("0", ""), said("b")]))).toEqual({
      turn: 1,
      item: 1,
    });
    expect(compared(turns([said("a")], "one"), turns([said("a")], "two"))).toEqual({ turn: 0, item: 0 });
  });

  it("ignores ids", () => {
    expect(compared(turns([call("1", "look")]), turns([call("2", "look")]))).toBeUndefined();
  });
});

describe("commonLength", () => {
  it("returns the position of the first difference", () => {
    expect(commonLength(["go left", "go right", "go up"])).toBe(3);
    expect(commonLength(["same", "same"])).toBe(4);
    expect(commonLength(["", "x"])).toBe(0);
  });
});
