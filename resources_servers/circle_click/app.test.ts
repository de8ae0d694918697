import { createTestServer, functionCallItem, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const row = {
  circles: [
    { x: 200, y: 300, radius: 50, color: "red" },
    { x: 600, y: 700, radius: 80, color: "blue" },
    { x: 20, y: 20, radius: 80, color: "blue" },
  ],
  target_color: "blue",
};

async function verify(fields: Record<string, unknown>, ...items: object[]) {
  const server = await createTestServer(definition);
  const { body } = await server.verify(verifyBody(fields, ...(items as never[])));
  await server.close();
  return body;
}

const click = (x: unknown, y: unknown) => functionCallItem("click", { x, y });

describe("circle_click", () => {
  it.each<[unknown, unknown, number]>([
    [600, 700, 1],
    [680, 700, 1],
    [681, 700, 0],
    [20, 20, 0],
    [" 600 ", "7_00", 1],
    [600.9, 700, 1],
    ["600.9", 700, 0],
    [[600], 700, 0],
    [null, 700, 0],
  ])("a click at %j, %j earns %d", async (x, y, reward) => {
    expect(await verify(row, click(x, y))).toMatchObject({ reward, hit: reward === 1 });
  });

  it("reports the clicked point", async () => {
    const huge = functionCallItem("click", '{"x": 100000000000000000000, "y": "bad"}');
    expect(await verify(row, huge)).toMatchObject({ clicked_x: 1e20, clicked_y: null, reward: 0 });
    expect(await verify(row, click("x", 1))).toMatchObject({ clicked_x: null, clicked_y: null });
  });

  it("counts the first click only", async () => {
    expect((await verify(row, click(0, 0), click(600, 700))).reward).toBe(0);
    expect((await verify(row, functionCallItem("tap", {}), click(600, 700))).reward).toBe(1);
    expect((await verify(row, messageItem("(600, 700)"))).reward).toBe(0);
  });

  it("repeats the point of the tool call", async () => {
    const server = await createTestServer(definition);
    expect((await server.tool("click", { x: "a", y: [1] })).body).toEqual({ x: "a", y: [1] });
    expect((await server.tool("click", { x: 1 })).status).toBe(422);
    await server.close();
  });
});
