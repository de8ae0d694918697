import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineGymnasiumServer } from "../../definitions/define-resources.ts";
import { modelResponse } from "../response-items.ts";
import { createTestServer } from "../test-server.ts";

const closed: number[] = [];
const definition = defineGymnasiumServer({
  row: z.looseObject({ secret: z.string() }),
  reset: ({ row }) => ({ session: { left: row.secret.length }, observation: "Ask!", info: { a: 1 } }),
  step: ({ session, row, body }) => {
    session.left--;
    return {
      observation: `${session.left} left`,
      terminated: session.left === 0,
      info: { row, id: body["_ng_step_request_id"] },
    };
  },
  closeSession: ({ session }) => void closed.push(session.left),
});

const params = { responses_create_params: { input: "Go." } };
const response = modelResponse();

describe("a gymnasium-style server", () => {
  it("runs an episode and removes its state at the end", async () => {
    const server = await createTestServer(definition);
    expect((await server.post("/reset", { ...params, secret: "ab" })).body).toEqual({
      observation: "Ask!",
      info: { a: 1 },
    });
    const row = { ...params, response, secret: "ab", extra: 1, _ng_step_request_id: "s1" };
    expect((await server.post("/step", row)).body).toEqual({
      observation: "1 left",
      reward: 0,
      terminated: false,
      truncated: false,
      // Everything except the two fields that every row has.
      info: { row: { secret: "ab", extra: 1, _ng_step_request_id: "s1" }, id: "s1" },
    });
    expect((await server.post("/step", row)).body.terminated).toBe(true);
    expect((await server.post("/step", row)).status).toBe(409);
    expect(closed).toEqual([0]);
  });

  it("has no /seed_session and no /verify", async () => {
    const server = await createTestServer(definition);
    for (const path of ["/seed_session", "/verify"]) expect((await server.post(path, {})).status).toBe(404);
    expect((await server.post("/aggregate_metrics", { verify_responses: [] })).body.key_metrics).toEqual({});
  });

  it.each([
    ["/reset", { secret: "a" }, ["body", "responses_create_params"]],
    ["/reset", params, ["body", "secret"]],
    ["/step", { ...params, secret: "a" }, ["body", "response"]],
  ])("names the missing fields of %s", async (path, body, loc) => {
    const server = await createTestServer(definition);
    const reply = await server.post(path, body);
    expect(reply.status).toBe(422);
    expect(reply.body.detail[0].loc).toEqual(loc);
  });

  it("limits the number of episodes to max_sessions", async () => {
    const server = await createTestServer(definition, { config: { max_sessions: 1 } });
    const [first, second] = [server.newJar(), server.newJar()];
    for (const jar of [first, second]) await server.post("/reset", { ...params, secret: "abc" }, jar);
    const step = { ...params, response, secret: "abc" };
    expect((await server.post("/step", step, second)).status).toBe(200);
    expect((await server.post("/step", step, first)).status).toBe(409);
  });
});
