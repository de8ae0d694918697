import { expect, it } from "vitest";
import { z } from "zod";
import { createTestServer } from "../../../testing/index.ts";
import {
  CREATE_PARAM_KEYS,
  parseCreateParams,
  parseResponse,
  RESPONSE_KEYS,
} from "../../../wire/schemas/responses.ts";
import type { ValidationError } from "../../../wire/schemas/validation.ts";
import { defineAgent } from "../../definitions/define-agent.ts";
import { defineModel } from "../../definitions/define-model.ts";
import { defineGymnasiumServer, defineResourcesServer } from "../../definitions/define-resources.ts";
import type { ServerDefinition } from "../../definitions/definitions.ts";
import { docsPage } from "./openapi.ts";
import { WIRE_SCHEMAS } from "./wire-schemas.ts";

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
    "/check_rows",
    "/close_session",
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

it("shows the routes on a page without external files", () => {
  const notes = { "/look_up": { summary: "Looks <something> up." } };
  const text = docsPage({ name: "demo", get: ["/", "/docs"], post: ["/look_up"], notes });
  expect(text).toContain("Looks &#60;something&#62; up.");
  expect(text).toContain("<code>/look_up</code>");
  expect(text).not.toMatch(/<script|src=|https?:|<code>\/docs/);
});

const schemaOf = (route: object, part: "request" | "answer") => {
  const { requestBody, responses } = (route as { post: Record<string, never> }).post as never as {
    requestBody: { content: Record<string, { schema: object }> };
    responses: Record<number, { content: Record<string, { schema: object }> }>;
  };
  return (part === "request" ? requestBody : responses[200])?.content["application/json"]?.schema;
};
const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const describeServer = async (server: ServerDefinition) =>
  (await (await createTestServer(server)).get("/openapi.json")).body as {
    paths: Record<string, object>;
    components: { schemas: Record<string, object> };
  };

it("describes the required fields of bodies besides those of the row", async () => {
  const { paths, components } = await describeServer(definition);
  expect(schemaOf(paths["/verify"] ?? {}, "request")).toMatchObject({
    required: ["answer", "responses_create_params", "response"],
    properties: {
      answer: { type: "string" },
      responses_create_params: refTo("ResponseCreateParams"),
      response: refTo("Response"),
    },
  });
  expect(schemaOf(paths["/verify"] ?? {}, "answer")).toEqual(refTo("VerifyResponse"));
  expect(schemaOf(paths["/aggregate_metrics"] ?? {}, "request")).toEqual(refTo("AggregateMetricsRequest"));
  expect(Object.keys(components.schemas).sort()).toEqual([
    "AggregateMetrics",
    "AggregateMetricsRequest",
    "HTTPValidationError",
    "Response",
    "ResponseCreateParams",
    "VerifyResponse",
  ]);
});

it.each<[ServerDefinition, string, string | string[], string]>([
  [
    defineAgent({ responses: () => Promise.reject(new Error()) }),
    "/run",
    ["responses_create_params"],
    "VerifyResponse",
  ],
  [
    defineAgent({ responses: () => Promise.reject(new Error()) }),
    "/v1/responses",
    "ResponseCreateParams",
    "Response",
  ],
  [
    defineModel({ chat: () => Promise.reject(new Error()) }),
    "/v1/chat/completions",
    "ChatCompletionRequest",
    "ChatCompletion",
  ],
  [
    defineGymnasiumServer({ reset: () => ({ session: 1 }), step: () => ({}) }),
    "/step",
    ["responses_create_params", "response"],
    "StepResponse",
  ],
])("describes other types of servers: case %#", async (server, path, takes, gives) => {
  const { paths, components } = await describeServer(server);
  const request = schemaOf(paths[path] ?? {}, "request");
  if (typeof takes === "string") expect(request).toEqual(refTo(takes));
  else expect(request).toMatchObject({ required: takes });
  expect(schemaOf(paths[path] ?? {}, "answer")).toEqual(refTo(gives));
  expect(components.schemas).toHaveProperty(gives);
});

it("describes every field of the bodies that are read", () => {
  const missingFrom = (read: () => unknown): unknown[] => {
    try {
      read();
    } catch (error) {
      return (error as ValidationError).detail.map(({ loc }) => loc[0]);
    }
    return [];
  };
  const { ResponseCreateParams, Response } = WIRE_SCHEMAS;
  expect(Object.keys(ResponseCreateParams.properties)).toEqual(CREATE_PARAM_KEYS);
  expect(Object.keys(Response.properties)).toEqual(RESPONSE_KEYS);
  expect(missingFrom(() => parseCreateParams({}))).toEqual(ResponseCreateParams.required);
  expect(missingFrom(() => parseResponse({})).sort()).toEqual([...Response.required].sort());
});
