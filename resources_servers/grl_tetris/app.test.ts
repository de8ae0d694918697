import { PyRandom } from "nemo-gym/python";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import { defineTetris } from "./app.ts";
import { drawPieces, type Piece, readActions } from "./game.ts";

const dot = (x: number): Piece => ({ anchor: [x, 0], shape: [[0, 0]] });
const flat = (x: number): Piece => ({
  anchor: [x, 0],
  shape: [
    [0, 0],
    [-1, 0],
  ],
});
const act = (...moves: string[]) => moves.map((move) => `<action>${move}</action>`).join(" ");

async function play(pieces: Piece[], row: Record<string, unknown>, ...answers: string[]) {
  const server = await createTestServer(defineTetris(() => pieces));
  const { response: _none, ...start } = verifyBody(row);
  const replies = [await server.post("/reset", start)];
  for (const answer of answers)
    replies.push(await server.post("/step", verifyBody(row, messageItem(answer))));
  await server.close();
  return replies.map(({ status, body }) => ({ status, ...body }));
}

describe("grl_tetris", () => {
  it("rewards a full row and ends the game", async () => {
    const row = { seed: 1, dim_x: 3, dim_y: 3 };
    const [reset, first, last, after] = await play(
      [flat(1), dot(0), dot(0)],
      row,
      act("Down", "Down"),
      act("Right", "Right", "Down", "Down", "Left"),
      act("Down"),
    );
    expect(reset?.["observation"]).toContain("board:\nXX_\n___\n___\n\nLegend");
    expect(first).toMatchObject({
      reward: -0.2,
      terminated: false,
      info: { dropped: true, num_actions_applied: 2 },
    });
    expect(first?.["observation"]).toContain("X__\n___\n##_");
    expect(last).toMatchObject({ terminated: true, info: { success: true, num_actions_applied: 4 } });
    expect(last?.["reward"]).toBeCloseTo(9.6, 12);
    expect(after).toMatchObject({ reward: 0, terminated: true, info: { success: true } });
  });

  it("ends when a piece stays in the top row", async () => {
    const [, last] = await play(
      [dot(0), dot(0)],
      { seed: 1, dim_x: 2, dim_y: 2 },
      act("Down", "Down", "Down"),
    );
    expect(last).toMatchObject({ terminated: true, info: { success: false, num_actions_applied: 2 } });
  });

  it("refuses answers without a move and boards that are too small", async () => {
    expect((await play([dot(0)], { seed: 1 }, "down"))[1]?.status).toBe(400);
    expect((await play([dot(0)], { seed: 1, dim_x: 1 }))[0]?.status).toBe(422);
  });
});

it("draws the same pieces for a seed, one more than there are cells", () => {
  const draw = (seed: number) => drawPieces({ width: 4, height: 4, boxType: 3 }, new PyRandom(seed));
  expect(draw(5)).toHaveLength(17);
  expect(draw(5)).toEqual(draw(5));
  expect(draw(6)).not.toEqual(draw(5));
  for (const { anchor, shape } of draw(5))
    for (const [x] of shape) expect(anchor[0] + x).toBeGreaterThanOrEqual(0);
});

it("reads all tags in order", () => {
  expect(readActions("<action> LEFT</action> down <action>2</action><action>3</action>")).toEqual([0, 2]);
});
