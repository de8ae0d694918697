import { createTestServer, growthOf, messageItem, verifyBody } from "nemo-gym/testing";
import { expect, it } from "vitest";
import definition from "./app.ts";

async function verify(text: string, row: object = {}) {
  const server = await createTestServer(definition);
  const { body } = await server.verify(verifyBody({ expected_answer: "0.5,0.5", ...row }, messageItem(text)));
  await server.close();
  return body;
}

it.each([
  ["<point>(500, 500)</point>", {}, 1],
  ["<point>\n[ (500,500) ]</point>", {}, 1],
  ["<point>(575, 500)</point>", {}, 0.25],
  ["<point>(650, 500)</point>", {}, 0],
  ["<point>(600, 500)</point>", { max_dist: 0.2 }, 0.25],
  ["<point>(500, 500)</point>", { max_dist: 0 }, 0],
  ["<point>(1, 1)</point> <point>(500, 500)</point>", {}, 0],
  ["(500, 500)", {}, 0],
  ["<point>(500.0, 500)</point>", {}, 0],
  [`<point>(${"9".repeat(400)}, 500)</point>`, {}, 0],
])("%s with %j earns %d", async (text, row, reward) => {
  expect((await verify(text, row)).reward).toBeCloseTo(reward, 12);
});

it("reports the point and the distance", async () => {
  expect(await verify("<point>(530, 540)</point>")).toMatchObject({ extracted_x: 0.53, extracted_y: 0.54 });
  expect((await verify("<point>(530, 540)</point>"))["distance"]).toBeCloseTo(0.05, 12);
  expect(await verify("nothing")).toMatchObject({ extracted_x: null, extracted_y: null, distance: null });
});

it("takes linear time", async () => {
  const server = await createTestServer(definition);
  const run = (size: number) =>
    server.verify(verifyBody({ expected_answer: "0.5,0.5" }, messageItem(`<point>${" ".repeat(size)}`)));
  expect(await growthOf(run, 20_000)).toBeLessThan(1.6);
  await server.close();
});
