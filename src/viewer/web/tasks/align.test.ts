import { describe, expect, it } from "vitest";
import { conversationOf } from "../../conversation/conversation.ts";
import { answersOf, differencesFrom, differingWords, firstDifferentCall, textsOf, turnsOf } from "./align.ts";

const said = (text: string) => ({ type: "message", role: "assistant", content: text });
const call = (id: string, name: string) => ({ type: "function_call", call_id: id, name, arguments: "{}" });
const output = (id: string, text: string) => ({ type: "function_call_output", call_id: id, output: text });
const turns = (items: unknown[], input = "hello") =>
  turnsOf(conversationOf({ responses_create_params: { input }, response: { output: items } }));
const aligned = (...repeats: ReturnType<typeof turns>[]) =>
  Array.from({ length: Math.max(...repeats.map((own) => own.length)) }, (_, turn) =>
    repeats.map((own) => own[turn] ?? []),
  );
const compared = (...repeats: ReturnType<typeof turns>[]) => {
  const [first] = differencesFrom(aligned(...repeats), 0);
  return first && { turn: first.turn, item: first.item };
};

describe("differencesFrom", () => {
  it("lists the columns that differ from the base, at every place", () => {
    const all = aligned(
      turns([said("a")]),
      turns([said("b")]),
      turns([said("a"), output("0", ""), said("c")]),
    );
    expect(differencesFrom(all, 0)).toEqual([
      { turn: 1, item: 0, columns: [1] },
      { turn: 1, item: 1, columns: [2] },
      { turn: 2, item: 0, columns: [2] },
    ]);
    expect(differencesFrom(all, 1)[0]).toEqual({ turn: 1, item: 0, columns: [0, 2] });
  });

  it("finds the first different call, whatever was thought or returned before, and the answers", () => {
    const begin = (thought: string) => [said(thought), call("1", "look"), output("1", thought)];
    const all = aligned(
      turns([...begin("x"), call("2", "up"), output("2", ""), said("left")]),
      turns([...begin("y"), call("2", "down"), output("2", ""), said("right")]),
    );
    const differences = differencesFrom(all, 0);
    expect(differences[0]).toMatchObject({ turn: 1, item: 0 });
    expect(firstDifferentCall(all, 0, differences)).toMatchObject({ turn: 2, item: 0 });
    expect(answersOf(all).map((item) => item && textsOf(item))).toEqual(["left", "right"]);
  });

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

describe("differingWords", () => {
  const marked = (...texts: string[]) =>
    differingWords(texts).map(({ start, end }, place) => texts[place]?.slice(start, end));

  it("returns the first words that differ", () => {
    expect(marked("go left", "go right", "go up now")).toEqual(["left", "right", "up"]);
    expect(marked("", "x y")).toEqual(["", "x"]);
    expect(marked("the end", "the end, or not")).toEqual(["", ","]);
    expect(marked('{"city":"Oslo"}', '{"city":"Paris"}')).toEqual(["Oslo", "Paris"]);
    expect(marked("a b", "a\nb")).toEqual([" b", "\nb"]);
  });

  it("returns whole words if they differ only in a part", () => {
    expect(marked("see request_0017a4 again", "see request_0017b4 again")).toEqual([
      "request_0017a4",
      "request_0017b4",
    ]);
    expect(marked("two cats", "two cat")).toEqual(["cats", "cat"]);
    const id = "x".repeat(300);
    expect(marked(`${id}1`, `${id}2`)).toEqual([`${id}1`, `${id}2`]);
    // Characters of two code units whose first units are equal.
    expect(marked("a 😀", "a 😁")).toEqual(["😀", "😁"]);
  });
});
