import { z } from "zod";
import type { JsonObject } from "../../../base/python/json/door.ts";
import type {
  GymnasiumServerDefinition,
  ResourcesServerDefinition,
} from "../../definitions/define-resources.ts";
import { PROBE_PATHS } from "../probes.ts";
import type { DeclaredTool } from "./check-rows.ts";
import { WIRE_SCHEMAS } from "./wire-schemas.ts";

/** The description of a route. */
export interface RouteNote {
  summary?: string;
  /** Schema of the body's own fields. */
  body?: z.ZodType;
  /** Further fields of the body. */
  commonFields?: readonly (keyof typeof COMMON_FIELDS)[];
  /** The body as a whole. */
  request?: SchemaName;
  response?: SchemaName;
}

type SchemaName = keyof typeof WIRE_SCHEMAS;

const COMMON_FIELDS = {
  responses_create_params: "ResponseCreateParams",
  response: "Response",
} as const satisfies Record<string, SchemaName>;

export interface DescribedServer {
  name: string;
  get: readonly string[];
  post: readonly string[];
  notes: Readonly<Record<string, RouteNote>>;
}

/** Standard routes of every server: the liveness probe and the descriptions. */
const UNLISTED = new Set([...PROBE_PATHS, "/openapi.json", "/docs", "/redoc"]);
const ANY_BODY = { type: "object", additionalProperties: true };

/** The routes of a server as an OpenAPI document. */
export function openApiOf({ name, get, post, notes }: DescribedServer): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const path of get.filter((own) => !UNLISTED.has(own)))
    paths[path] = { get: operation("get", path, notes[path]) };
  for (const path of post)
    paths[path] = {
      ...paths[path],
      post: { ...operation("post", path, notes[path]), requestBody: requestBody(notes[path]) },
    };
  return {
    openapi: "3.1.0",
    info: { title: name, version: "0.1.0" },
    paths,
    components: { schemas: { HTTPValidationError: VALIDATION_ERROR, ...referredTo(paths) } },
  };
}

/** The same routes as an HTML page without external files. */
export function docsPage(server: DescribedServer): string {
  const { paths } = openApiOf(server) as { paths: Record<string, Record<string, JsonObject>> };
  const sections = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { summary, requestBody: body }]) => {
      const schema = (body as { content: Record<string, { schema: unknown }> } | undefined)?.content[
        "application/json"
      ]?.schema;
      const shown = schema ? `<pre>${escapeHtml(JSON.stringify(schema, null, 2))}</pre>` : "";
      return `<details><summary><b>${method.toUpperCase()}</b> <code>${escapeHtml(path)}</code> ${escapeHtml(String(summary ?? ""))}</summary>${shown}</details>`;
    }),
  );
  const title = escapeHtml(server.name);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title><style>${STYLE}</style></head><body><h1>${title}</h1><p><a href="openapi.json">openapi.json</a></p>${sections.join("")}</body></html>`;
}

const STYLE =
  "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}details{border-top:1px solid #ccc;padding:.4rem 0}pre{background:#f4f4f4;padding:.6rem;overflow:auto}";

function operation(method: string, path: string, note: RouteNote | undefined): JsonObject {
  return {
    summary: note?.summary,
    operationId: `${path.replace(/[^A-Za-z0-9]+/g, "_").replace(/^_|_$/g, "")}_${method}`,
    responses: {
      200: {
        description: "Successful Response",
        content: { "application/json": { schema: note?.response ? ref(note.response) : {} } },
      },
      ...(method === "post" && {
        422: {
          description: "Validation Error",
          content: { "application/json": { schema: { $ref: "#/components/schemas/HTTPValidationError" } } },
        },
      }),
    },
  };
}

function requestBody(note: RouteNote | undefined): JsonObject {
  return { required: true, content: { "application/json": { schema: bodySchema(note ?? {}) } } };
}

function bodySchema({ body, commonFields = [], request }: RouteNote): JsonObject {
  if (request) return ref(request);
  const own = body ? jsonSchemaOf(body) : ANY_BODY;
  if (commonFields.length === 0) return own;
  const { properties = {}, required = [] } = own as { properties?: JsonObject; required?: string[] };
  const common = Object.fromEntries(commonFields.map((field) => [field, ref(COMMON_FIELDS[field])]));
  return {
    ...own,
    properties: { ...properties, ...common },
    required: [...new Set([...required, ...commonFields])],
    // Rows may have further fields.
    additionalProperties: true,
  };
}

function ref(name: SchemaName): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** The shared schemas that a document references, directly or indirectly. */
function referredTo(value: unknown, found: JsonObject = {}): JsonObject {
  for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    if (Object.hasOwn(found, name) || !Object.hasOwn(WIRE_SCHEMAS, name)) continue;
    found[name] = WIRE_SCHEMAS[name as SchemaName];
    referredTo(found[name], found);
  }
  return found;
}

/** JSON Schema of the input of a zod schema; constraints that JSON Schema cannot express are omitted. */
export function jsonSchemaOf(schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
  }) as JsonObject;
  return { type: "object", ...rest };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

const VALIDATION_ERROR = {
  type: "object",
  properties: {
    detail: {
      type: "array",
      items: {
        type: "object",
        required: ["loc", "msg", "type"],
        properties: {
          loc: { type: "array", items: { anyOf: [{ type: "string" }, { type: "integer" }] } },
          msg: { type: "string" },
          type: { type: "string" },
        },
      },
    },
  },
};

type Notes = Record<string, RouteNote>;

const AGGREGATE: RouteNote = {
  summary: "Metrics of verified rollouts.",
  request: "AggregateMetricsRequest",
  response: "AggregateMetrics",
};
const CHECK_ROWS: RouteNote = { summary: "What is wrong with each of `rows`, before anything is run." };
const PARAMS = ["responses_create_params"] as const;
const ROLLOUT = ["responses_create_params", "response"] as const;

/** Request and response bodies of the routes of a resources server. */
export function resourcesNotes({ seed, row, tools }: ResourcesServerDefinition["options"]): Notes {
  const seeded: z.ZodType | undefined = seed ?? row;
  const notes: Notes = {
    "/seed_session": { summary: "Begins a rollout: the row.", body: seeded },
    "/verify": {
      summary: "Scores a rollout: the row and its response.",
      body: row,
      commonFields: ROLLOUT,
      response: "VerifyResponse",
    },
    "/aggregate_metrics": AGGREGATE,
    "/check_rows": CHECK_ROWS,
    "/reverify_mode": { summary: "Whether stored rollouts may be scored again." },
  };
  for (const [name, tool] of Object.entries(tools ?? {})) {
    const { description, input } = tool as DeclaredTool;
    notes[`/${name}`] = { summary: description || undefined, body: input };
  }
  return notes;
}

export function gymnasiumNotes({ row }: GymnasiumServerDefinition["options"]): Notes {
  return {
    "/reset": {
      summary: "Starts an episode: the row.",
      body: row,
      commonFields: PARAMS,
      response: "ResetResponse",
    },
    "/step": {
      summary: "Answers one model turn: the row and the latest response.",
      body: row,
      commonFields: ROLLOUT,
      response: "StepResponse",
    },
    "/aggregate_metrics": AGGREGATE,
    "/check_rows": CHECK_ROWS,
  };
}

export function agentNotes(): Notes {
  return {
    "/v1/responses": {
      summary: "The agent's loop, for one conversation.",
      request: "ResponseCreateParams",
      response: "Response",
    },
    "/run": { summary: "One rollout: the row.", commonFields: PARAMS, response: "VerifyResponse" },
    "/aggregate_metrics": AGGREGATE,
    "/check_rows": CHECK_ROWS,
  };
}

export function modelNotes(): Notes {
  return {
    "/v1/responses": { summary: "Responses API.", request: "ResponseCreateParams", response: "Response" },
    "/v1/chat/completions": {
      summary: "Chat Completions API.",
      request: "ChatCompletionRequest",
      response: "ChatCompletion",
    },
    "/v1/messages": { summary: "Anthropic Messages API.", request: "MessagesRequest", response: "Message" },
    "/v1/messages/count_tokens": {
      summary: "An estimate of the tokens of a request.",
      request: "MessagesRequest",
    },
    "/v1/models": { summary: "The model behind this server." },
    "/rollout_usage": {
      summary: "Behind /ng-rollout/<id>: the tokens and calls of a rollout since the last request.",
    },
  };
}
