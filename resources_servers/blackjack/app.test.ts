import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { defineBlackjack } from "./app.ts";
import { handValue, type Rank, readAction } from "./game.ts";

const from = (cards: Rank[]) => () => cards.shift() ?? "2";
const act = (action: string) => verifyBody({}, messageItem(`<action>${action}</action>`));

async function play(cards: Rank[], ...actions: string[]) {
  const server = await createTestServer(defineBlackjack(from(cards)));
  const { response: _none, ...start } = verifyBody({});
  const opened = (await server.post("/reset", start)).body;
  let last = opened;
  for (const action of actions) last = (await server.post("/step", act(action))).body;
  await server.close();
  return { opened, last };
}

describe("a game", () => {
  it("shows the hand and one card of the dealer", async () => {
    const { opened } = await play(["K", "5", "9", "7"]);
    expect(opened.observation.split("\n").slice(0, 2)).toEqual(["Your hand: [K, 5] = 15", "Dealer shows: 9"]);
  });

  it.each([
    ["win", ["K", "9", "10", "7"], ["stand"], 1],
    ["draw", ["K", "9", "10", "9"], ["stand"], 0],
    ["loss", ["K", "7", "10", "9"], ["stand"], -1],
    ["win", ["K", "2", "10", "6", "K"], ["stand"], 1],
    ["bust", ["K", "6", "10", "6", "9"], ["hit"], -1],
    ["win", ["5", "6", "10", "7", "K"], ["hit", "stand"], 1],
  ] as [string, Rank[], string[], number][])(
    "ends in a %s with %j after %j",
    async (result, cards, actions, reward) => {
      const { last } = await play([...cards], ...actions);
      expect(last).toMatchObject({ reward, terminated: true, info: { result } });
    },
  );
});

it("counts an ace as 1 if 11 would bust", () => {
  expect(handValue(["A", "K"])).toBe(21);
  expect(handValue(["A", "A", "9"])).toBe(21);
  expect(handValue(["A", "K", "Q"])).toBe(21);
});

it("reads actions in any case, treats other text as a stand, and handles hostile text in linear time", () => {
  expect(readAction("I think <ACTION> Hit </ACTION>")).toBe("hit");
  expect(readAction("<action>\x85hit\x1c</action>")).toBe("hit");
  expect(readAction("<action>\ufeffhit</action>")).toBe("stand");
  expect(readAction("hit me")).toBe("stand");
  expect(readAction(`<action>${" ".repeat(1_000_000)}`)).toBe("stand");
});

it("refuses a step without a game with 409", async () => {
  const server = await createTestServer(defineBlackjack(from([])));
  expect((await server.post("/step", act("hit"))).status).toBe(409);
  await server.close();
});
