import type { z } from "zod";
import type { JsonObject } from "../../../base/python/json/door.ts";
import { suggest } from "../../../base/suggest.ts";
import { type FunctionTool, parseCreateParams, ValidationError } from "../../../wire/schemas/door.ts";
import type { ResourcesServerDefinition } from "../../definitions/define-resources.ts";
import type { Handler } from "../app.ts";
import { parseWith, requireObject } from "../body.ts";
import { jsonSchemaOf } from "./openapi.ts";

type Options = ResourcesServerDefinition["options"];

const ANY_OBJECT = { type: "object", properties: {}, additionalProperties: true };

/** The tools of a server as a request offers them to the model. */
export function offeredTools({ tools, fallbackTool }: Options, config: unknown): FunctionTool[] {
  const declared = Object.entries((tools ?? {}) as Record<string, DeclaredTool>)
    .filter(([, { expose }]) => expose !== false)
    .map(([name, { description, input }]) =>
      functionTool(name, description, input ? jsonSchemaOf(input) : ANY_OBJECT),
    );
  const listed = (fallbackTool?.list?.(config as never) ?? []).map(({ name, description, inputSchema }) =>
    functionTool(name, description, inputSchema),
  );
  return [...declared, ...listed];
}

/** The fields of a tool that describe it. */
export interface DeclaredTool {
  description?: string;
  input?: z.ZodType;
  expose?: boolean;
}

function functionTool(name: string, description: string | undefined, parameters: JsonObject): FunctionTool {
  // Not strict: a strict schema must list every property as required, and these may have optional ones.
  return {
    type: "function",
    name,
    ...(description !== undefined && { description }),
    parameters,
    strict: false,
  };
}

/** `POST /check_rows`: the problems of each of `rows`, so that a run can be rejected before its first model call. */
export function checkRowsHandler(check: (row: JsonObject) => void): Handler {
  return (call) => {
    const { rows } = requireObject(call.body);
    if (!Array.isArray(rows))
      throw new ValidationError([
        {
          type: "list_type",
          loc: ["body", "rows"],
          msg: "Input should be a valid list",
          input: rows ?? null,
        },
      ]);
    const problems = rows.flatMap((row, index) => {
      const found = problemsOf(() => {
        const object = requireObject(row);
        parseCreateParams(object["responses_create_params"], ["body", "responses_create_params"]);
        check(object);
      });
      return found.length > 0 ? [{ index, problems: found }] : [];
    });
    return { problems };
  };
}

function problemsOf(check: () => void): string[] {
  try {
    check();
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.detail.map(({ loc, msg }) => {
      const [, ...path] = loc;
      return path.length > 0 ? `${path.join(".")}: ${msg}` : msg;
    });
  }
}

/**
 * Rejects a row that the server cannot score or whose tools it does not have. Returns the row as `session` receives it.
 * A server without tools may score calls that are not run, so its rows may offer any tools.
 */
export function checkRow(
  options: Options,
  toolNames: ReadonlySet<string> | undefined,
  row: JsonObject,
): unknown {
  const { row: schema, seed } = options;
  if (schema && seed) parseWith(schema, row, ["body"]);
  const parsed = parseWith(seed ?? schema, row, ["body"]);
  if (toolNames) checkOfferedTools(toolNames, row);
  return parsed;
}

/** Names of the tools that can be called; undefined when the server does not list them, or has none. */
export function callableTools(
  { tools = {}, fallbackTool }: Options,
  config: unknown,
): Set<string> | undefined {
  if (fallbackTool && !fallbackTool.list) return undefined;
  const listed = (fallbackTool?.list?.(config as never) ?? []).map(({ name }) => name);
  const names = [...Object.keys(tools), ...listed];
  return names.length > 0 ? new Set(names) : undefined;
}

function checkOfferedTools(known: ReadonlySet<string>, row: JsonObject): void {
  const { tools } = (row["responses_create_params"] ?? {}) as { tools?: unknown };
  if (!Array.isArray(tools)) return;
  const detail = tools.flatMap(({ type, name }: { type?: unknown; name?: unknown }, index) => {
    if (type !== "function" || typeof name !== "string" || known.has(name)) return [];
    const nearest = suggest(name, [...known]);
    const hint =
      nearest === undefined ? `Its tools: ${[...known].join(", ")}.` : `Did you mean '${nearest}'?`;
    return [
      {
        type: "unknown_tool",
        loc: ["body", "responses_create_params", "tools", index, "name"],
        msg: `The server has no tool '${name}'. ${hint}`,
        input: name,
      },
    ];
  });
  if (detail.length > 0) throw new ValidationError(detail);
}
