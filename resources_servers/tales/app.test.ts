import path from "node:path";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const directory = import.meta.dirname;
const python_path = [path.join(directory, "stand-in")];
const start = (config: object = {}) =>
  createTestServer(definition, { config: { python_path, ...config }, directory });
const said = (text: string) => verifyBody({}, messageItem(text));

describe("tales", () => {
  it("plays a game in a Python process, whatever its libraries print", async () => {
    const server = await start();
    const jar = server.newJar();
    const begun = await server.post(
      "/reset",
      { responses_create_params: { input: [] }, task_no: 1, seed: 7 },
      jar,
    );
    expect(begun.body).toEqual({ observation: "start tales/TW1-v0 seed 7", info: { moves: 0 } });
    expect((await server.post("/step", said(" take\n"), jar)).body).toMatchObject({
      reward: 2,
      terminated: false,
    });
    expect((await server.post("/step", said("lose"), jar)).body).toMatchObject({
      reward: -1,
      info: { total_score: 1 },
    });
    expect((await server.post("/step", said("win"), jar)).body).toMatchObject({
      reward: 0,
      terminated: true,
    });
    expect((await server.post("/step", said("win"), jar)).status).toBe(400);
    await server.close();
  });

  it("counts the whole score of other frameworks, and ends after the last step", async () => {
    const server = await start({
      framework: "jericho",
      max_episode_steps: 2,
      expose_admissible_commands: true,
    });
    const jar = server.newJar();
    await server.post("/reset", { responses_create_params: { input: [] } }, jar);
    await server.post("/step", said("take"), jar);
    expect((await server.post("/step", said("take"), jar)).body).toMatchObject({
      reward: 4,
      truncated: true,
      info: { score: 4, total_score: 6, step_count: 2, admissible_commands: ["b"] },
    });
    await server.close();
  });

  it.each([
    [{ framework: "none" }, {}, "No module named 'tales.none'"],
    [{ task_no: 9 }, {}, "task_no must be from 0 to 1"],
    [{}, { python_path: [] }, "No module named"],
    [
      {},
      { python: "no-such-python" },
      "The game cannot start: no-such-python ended: spawn no-such-python ENOENT",
    ],
  ])("refuses to start with %j and %j", async (row, config, message) => {
    const server = await start(config);
    const reply = await server.post(
      "/reset",
      { responses_create_params: { input: [] }, ...row },
      server.newJar(),
    );
    expect(reply.status).toBe(400);
    expect(JSON.stringify(reply.body)).toContain(message);
    await server.close();
  });

  it("fails a step in which the game breaks, and goes on", async () => {
    const server = await start();
    const jar = server.newJar();
    await server.post("/reset", { responses_create_params: { input: [] } }, jar);
    expect((await server.post("/step", said("boom"), jar)).status).toBe(500);
    expect((await server.post("/step", said("take"), jar)).body).toMatchObject({ reward: 2 });
    await server.close();
  });
});
