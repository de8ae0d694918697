import { createTestServer, growthOf, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { findGrid } from "./grid.ts";

const row = {
  expected_output: [
    [1, 2],
    [3, 4.0],
  ],
  task_id: "t",
};

describe("arc_agi", () => {
  it.each([
    ["\\boxed{[[1,2],[3,4]]}", 1],
    ["\\boxed{[[1,2],[3,5]]}", 0],
    ["nothing", 0],
  ])("rewards %j with %d", async (text, reward) => {
    const server = await createTestServer(definition);
    const { body } = await server.verify(verifyBody(row, messageItem(text)));
    expect(body).toMatchObject({ reward, expected_output: row.expected_output });
    expect(body).not.toHaveProperty("task_id");
    expect(body["extraction_successful"]).toBe(text !== "nothing");
  });

  it("refuses a row whose examples are no grids", async () => {
    const server = await createTestServer(definition);
    expect((await server.verify(verifyBody({ ...row, train: "x" }, messageItem("")))).status).toBe(422);
  });
});

describe("findGrid", () => {
  it.each<[string, number[][] | undefined]>([
    ["\\boxed{[[9]]} \\boxed{[[1]]}", [[9]]],
    ["\\boxed{[[1,,2]]} \\boxed{[[1,2]]}", [[1, 2]]],
    ["\\boxed{ [[1]] } and [[2]]", [[1]]],
    ["[[1]] [[2]]", undefined],
    ["[[1]], or [[2]]", [[1]]],
    ["[ [ 1 , 2 ] , [ 3 ] ]", [[1, 2], [3]]],
    ["[[1 2],[3 4]]", [[12], [34]]],
    ["[[],[1]]", undefined],
    ["[[1]", undefined],
    ["[[]]", undefined],
    ["[[1.5]]", undefined],
  ])("%j", (text, grid) => {
    expect(findGrid(text)).toEqual(grid);
  });

  it("takes linear time", async () => {
    const find = (size: number) => expect(findGrid("[".repeat(size))).toBeUndefined();
    expect(await growthOf(find, 10_000)).toBeLessThan(1.6);
  });
});
