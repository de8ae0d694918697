import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { readAction } from "./game.ts";

async function play(row: Record<string, unknown>, ...answers: string[]) {
  const server = await createTestServer(definition);
  const { response: _none, ...start } = verifyBody(row);
  const replies = [await server.post("/reset", start)];
  for (const answer of answers)
    replies.push(await server.post("/step", verifyBody(row, messageItem(answer))));
  await server.close();
  return replies.map(({ status, body }) => ({ status, ...body }));
}

describe("grl_sokoban", () => {
  it("draws the room of the original for a seed", async () => {
    const [reset] = await play({ seed: 84810, dim_room: [5, 5], num_boxes: 1 });
    expect(reset?.["observation"]).toContain("board:\n#####\n#O__#\n#_X_#\n#_P_#\n#####\n\nLegend");
  });

  it("rewards moves, boxes on targets and the solution", async () => {
    const row = { seed: 402337, dim_room: [5, 5], num_boxes: 2 };
    const replies = await play(
      row,
      "<action>Right</action>",
      "<action>Down</action>",
      "<action>Down</action>",
    );
    expect(replies.map(({ reward }) => reward)).toEqual([undefined, -0.1, -0.1, -0.1]);
    expect(replies[2]).toMatchObject({
      terminated: false,
      info: { action_is_effective: true, success: false },
    });
    expect(replies[3]).toMatchObject({ info: { action_is_effective: false } });
    const [, solved, after] = await play({ seed: 15 }, "right", "left");
    expect(solved).toMatchObject({ reward: 10.9, terminated: true, info: { success: true } });
    expect(after).toMatchObject({ reward: 0, terminated: true, observation: solved?.["observation"] });
  });

  it("ends after max_steps", async () => {
    const replies = await play({ seed: 24, max_steps: 2 }, "up", "up");
    expect(replies.map(({ terminated }) => terminated)).toEqual([undefined, false, true]);
  });

  it("refuses answers without a move and rooms without place", async () => {
    expect((await play({ seed: 15 }, "No idea."))[1]?.status).toBe(400);
    expect((await play({ seed: 15, dim_room: [3, 3] }))[0]?.status).toBe(400);
    expect((await play({ seed: -1 }))[0]?.status).toBe(422);
  });

  it("refuses a step without a game", async () => {
    const server = await createTestServer(definition);
    expect((await server.post("/step", verifyBody({}, messageItem("up")))).status).toBe(400);
    await server.close();
  });
});

it.each([
  ["I go up, so <action> LEFT </action>", 3],
  ["go up or down", 1],
  ["<action>4</action>", 4],
  ["12", undefined],
  ["upé", undefined],
])("reads %j as %s", (text, action) => {
  expect(readAction(text)).toBe(action);
});
