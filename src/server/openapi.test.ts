import { expect, it } from "vitest";
import { z } from "zod";
import { createTestServer } from "../testing/index.ts";
import { defineResourcesServer } from "./define-resources.ts";
import { docsPage } from "./openapi.ts";

const definition = defineResourcesServer({
  row: z.object({ answer: z.string() }),
  tools: {
    look_up: {
      description: "Looks <something> up.",
      input: z.object({ word: z.string().min(1), limit: z.int().default(3) }),
      run: () => ({}),
    },
    free: { run: () => ({}) },
  },
  verify: () => ({ reward: 1 }),
});

it("describes the routes of a server with the schemas of its definition", async () => {
  const server = await createTestServer(definition);
  const { status, body } = await server.get("/openapi.json");
  expect(status).toBe(200);
  const { openapi, paths } = body as { openapi: string; paths: Record<string, unknown> };
  expect(openapi).toBe("3.1.0");
  expect(Object.keys(paths).sort()).toEqual([
    "/aggregate_metrics",
    "/free",
    "/look_up",
    "/reverify_mode",
    "/seed_session",
    "/verify",
  ]);
  expect(paths["/look_up"]).toMatchObject({
    post: {
      summary: "Looks <something> up.",
      operationId: "look_up_post",
      requestBody: {
        content: {
          "application/json": {
            schema: { type: "object", required: ["word"], properties: { word: { type: "string" } } },
          },
        },
      },
    },
  });
});

it("shows them on a page that loads nothing", () => {
  const notes = { "/look_up": { summary: "Looks <something> up." } };
  const text = docsPage({ name: "demo", get: ["/", "/docs"], post: ["/look_up"], notes });
  expect(text).toContain("Looks &#60;something&#62; up.");
  expect(text).toContain("<code>/look_up</code>");
  expect(text).not.toMatch(/<script|src=|https?:|<code>\/docs/);
});
