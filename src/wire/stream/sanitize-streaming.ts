import { isTruthy, pyStr } from "../../base/python/door.ts";
import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import type { OnLoss } from "../convert/conversion-loss.ts";
import { tryReading, wordOf } from "../schemas/readers.ts";
import { CREATE_PARAM_KEYS, parseCreateParams, type ResponseCreateParams } from "../schemas/responses.ts";
import { readInputItem } from "../schemas/validate-items.ts";
import { isUsableTool } from "../schemas/validate-tools.ts";
import { type Location, ValidationError } from "../schemas/validation.ts";

/** Maps a flattened tool name to its namespace and its name at the client. */
export type NamespaceMap = Readonly<Record<string, readonly [namespace: string, name: string]>>;

/** A plain request, made from a streaming one. */
export interface SanitizedRequest {
  /** The body without unknown keys. */
  request: JsonObject;
  namespaces: NamespaceMap;
}

const KNOWN_KEYS = new Set(CREATE_PARAM_KEYS);
const DELIMITER = "__";
const TEXT_PARTS = new Set<unknown>(["input_text", "output_text", "text"]);

/**
 * Converts the request of a streaming harness to a plain one. Tools in namespaces are flattened, tools in the input are
 * moved to `tools`, invalid content is dropped, and leading instructions are collected.
 */
export function sanitizeStreamingResponses(body: JsonObject, onLoss?: OnLoss): SanitizedRequest {
  const namespaces: Record<string, [string, string]> = Object.create(null);
  const request: JsonObject = {};
  for (const key of Object.keys(body)) {
    if (key === "stream") continue;
    if (KNOWN_KEYS.has(key)) request[key] = body[key];
    else onLoss?.({ field: key, reason: "the request schema has no such key" });
  }
  if (isToolList(request["tools"])) {
    request["tools"] = flatten(request["tools"], namespaces).filter((tool) =>
      keepTool(tool, "tools", onLoss),
    );
  }
  if (Array.isArray(request["input"])) sanitizeInput(request, request["input"], namespaces, onLoss);
  return { request, namespaces: { ...namespaces } };
}

/** Another value is left unchanged, and the validation rejects it. */
const isToolList = (tools: unknown) => tools === null || Array.isArray(tools);

function flatten(tools: unknown, namespaces: Record<string, [string, string]>): unknown[] {
  const flat: unknown[] = [];
  for (const tool of Array.isArray(tools) ? tools : []) {
    if (!isObject(tool) || tool["type"] !== "namespace") {
      flat.push(tool);
      continue;
    }
    const namespace = isTruthy(tool["name"]) ? pyStr(tool["name"]) : "";
    for (const member of Array.isArray(tool["tools"]) ? tool["tools"] : []) {
      if (!isObject(member) || !isTruthy(member["name"])) continue;
      const name = pyStr(member["name"]);
      const joined = namespace + DELIMITER + name;
      flat.push({ ...member, type: "function", name: joined });
      namespaces[joined] = [namespace, name];
    }
  }
  return flat;
}

function keepTool(tool: unknown, field: string, onLoss?: OnLoss): boolean {
  const usable = isUsableTool(tool);
  if (!usable) onLoss?.({ field, reason: `a tool of type '${typeOf(tool)}' is not usable` });
  return usable;
}

const typeOf = (value: unknown) => (isObject(value) ? wordOf(value["type"]) : typeof value);

function sanitizeInput(
  request: JsonObject,
  input: unknown[],
  namespaces: Record<string, [string, string]>,
  onLoss?: OnLoss,
): void {
  const hoisted: unknown[] = [];
  const items: JsonObject[] = [];
  for (const [index, given] of input.entries()) {
    const item = withFlatName(given);
    if (isObject(item) && item["type"] === "additional_tools") {
      hoisted.push(...(Array.isArray(item["tools"]) ? item["tools"] : []));
    } else if (isObject(item) && tryReading(readInputItem, item) !== undefined) items.push(item);
    else onLoss?.({ field: `input.${index}`, reason: `an item of type '${typeOf(item)}' is not usable` });
  }
  const functions = flatten(hoisted, namespaces).filter(
    (tool) => typeOf(tool) === "function" && keepTool(tool, "input.tools", onLoss),
  );
  if (functions.length > 0 && isToolList(request["tools"] ?? null)) {
    request["tools"] = [...(Array.isArray(request["tools"]) ? request["tools"] : []), ...functions];
  }
  const instructions = [request["instructions"]];
  let leading = 0;
  while (isInstruction(items[leading])) instructions.push(textOf(items[leading++]));
  const joined = instructions.filter((text) => typeof text === "string" && text !== "").join("\n\n");
  if (joined !== "") request["instructions"] = joined;
  request["input"] = items.slice(leading);
}

function withFlatName(item: unknown): unknown {
  if (!isObject(item) || item["type"] !== "function_call" || !isTruthy(item["namespace"])) return item;
  const { namespace, ...call } = item;
  return { ...call, name: pyStr(namespace) + DELIMITER + pyStr(item["name"] ?? null) };
}

const isInstruction = (item: JsonObject | undefined) =>
  item !== undefined &&
  (item["type"] ?? "message") === "message" &&
  (item["role"] === "system" || item["role"] === "developer");

function textOf(item: JsonObject | undefined): string {
  const content = item?.["content"];
  if (!Array.isArray(content)) return typeof content === "string" ? content : "";
  return content
    .map((part: unknown) => (isObject(part) && TEXT_PARTS.has(part["type"]) ? (part["text"] ?? "") : ""))
    .join("");
}

/** Validates a sanitized body. Forbidden nested keys are removed, and the rest is validated again. */
export function parseSanitizedParams(
  body: JsonObject,
  prefix: Location = [],
  onLoss?: OnLoss,
): ResponseCreateParams {
  try {
    return parseCreateParams(body, prefix);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const forbidden = error.detail.filter(({ type }) => type === "extra_forbidden");
    if (forbidden.length === 0) throw error;
    const pruned = structuredClone(body);
    for (const { loc } of forbidden) {
      const path = loc.slice(prefix.length);
      remove(pruned, path);
      onLoss?.({ field: path.join("."), reason: "the request schema has no such key" });
    }
    return parseCreateParams(pruned, prefix);
  }
}

function remove(root: unknown, path: Location): void {
  let node = root;
  for (const key of path.slice(0, -1)) {
    if (typeof node !== "object" || node === null) return;
    node = (node as Record<string | number, unknown>)[key];
  }
  const last = path.at(-1);
  if (isObject(node) && last !== undefined) delete node[last];
}

/** A streaming chat request without its streaming options. */
export interface SanitizedChatRequest {
  request: JsonObject;
  includeUsage: boolean;
}

/** Converts a streaming chat request to a plain one by removing the settings of the stream. */
export function sanitizeStreamingChat(body: JsonObject): SanitizedChatRequest {
  const { stream: _, stream_options: options, ...request } = body;
  return { request, includeUsage: isObject(options) && isTruthy(options["include_usage"]) };
}
