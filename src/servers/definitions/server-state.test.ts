import { expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { messageItem, verifyBody } from "../hosting/response-items.ts";
import { createTestServer } from "../hosting/test-server.ts";
import { defineGymnasiumServer, defineResourcesServer } from "./define-resources.ts";

it("passes the typed result of start to every handler and to stop", async () => {
  const stopped: unknown[] = [];
  const definition = defineResourcesServer({
    config: z.object({ greeting: z.string() }),
    row: z.object({ name: z.string() }),
    start: async ({ config }) => ({ words: [config.greeting] }),
    session: ({ row, state }) => ({ said: `${state.words[0]} ${row.name}` }),
    tools: {
      say: {
        input: z.object({ what: z.string() }),
        run({ input, session, state }) {
          expectTypeOf(input).toEqualTypeOf<{ what: string }>();
          expectTypeOf(session).toEqualTypeOf<{ said: string }>();
          expectTypeOf(state).toEqualTypeOf<{ words: string[] }>();
          state.words.push(input.what);
          return session.said;
        },
      },
    },
    verify: ({ state, row }) => {
      expectTypeOf(row).toEqualTypeOf<{ name: string }>();
      return { reward: state.words.length };
    },
    stop: (_server, state) => void stopped.push(state.words),
  });
  const server = await createTestServer(definition, { config: { greeting: "Hello" } });
  await server.post("/seed_session", { name: "Ada" });
  expect((await server.post("/say", { what: "Bye" })).body).toBe("Hello Ada");
  const { body } = await server.post("/verify", verifyBody({ name: "Ada" }, messageItem("")));
  expect(body.reward).toBe(2);
  await server.close();
  expect(stopped).toEqual([["Hello", "Bye"]]);
});

it("passes it to the handlers of a gymnasium server", async () => {
  const definition = defineGymnasiumServer({
    start: () => ({ bonus: 3 }),
    reset: ({ state }) => ({ session: { bonus: state.bonus } }),
    step: ({ session, state }) => ({ reward: session.bonus + state.bonus, terminated: true }),
  });
  const server = await createTestServer(definition);
  const body = verifyBody({}, messageItem(""));
  await server.post("/reset", body);
  expect((await server.post("/step", body)).body.reward).toBe(6);
  await server.close();
});
