import { isObject } from "../../base/python/json/door.ts";
import { RolloutError } from "../../records/errors.ts";
import type { Row } from "../../records/files/door.ts";

export const SYSTEM_PROMPT_ROLES = ["system", "developer", "user"] as const;

/** Texts that replace those of every row (`text_overrides` of the config). */
export interface TextOverrides {
  system_prompt?: string;
  /**
   * Role of the message with the system prompt in rows that have none. `user` puts it before the first user message, for
   * agents without a system prompt. Default: `system`.
   */
  system_prompt_role?: (typeof SYSTEM_PROMPT_ROLES)[number];
  /** By name of the tool. Tools that a row does not have are ignored. */
  tools?: Readonly<Record<string, ToolTexts>>;
}

export interface ToolTexts {
  description?: string;
  /** Descriptions of parameters by path: `city`, `filter.from`. */
  parameters?: Readonly<Record<string, string>>;
}

/** Reads `text_overrides` of a config. */
export function readTextOverrides(given: unknown): TextOverrides | undefined {
  if (given === undefined || given === null) return undefined;
  const overrides = mapping(given, "text_overrides", ["system_prompt", "system_prompt_role", "tools"]);
  const { system_prompt: prompt, system_prompt_role: role, tools = {} } = overrides;
  if (prompt !== undefined && typeof prompt !== "string") throw invalid("system_prompt", "must be a text");
  if (role !== undefined && !SYSTEM_PROMPT_ROLES.some((known) => known === role))
    throw invalid("system_prompt_role", `must be one of ${SYSTEM_PROMPT_ROLES.join(", ")}`);
  for (const [name, texts] of Object.entries(mapping(tools, "text_overrides.tools"))) {
    const where = `tools.${name}`;
    const { description, parameters = {} } = mapping(texts, where, ["description", "parameters"]);
    if (description !== undefined && typeof description !== "string")
      throw invalid(`${where}.description`, "must be a text");
    for (const [path, text] of Object.entries(mapping(parameters, `${where}.parameters`)))
      if (typeof text !== "string") throw invalid(`${where}.parameters.${path}`, "must be a text");
  }
  return overrides as TextOverrides;
}

function mapping(value: unknown, where: string, keys?: readonly string[]): Row {
  if (!isObject(value)) throw invalid(where, "must be a mapping");
  const unknown = keys && Object.keys(value).find((key) => !keys.includes(key));
  if (unknown !== undefined) throw invalid(where, `has no key '${unknown}' (${keys?.join(", ")})`);
  return value;
}

function invalid(where: string, problem: string): RolloutError {
  const name = where.startsWith("text_overrides") ? where : `text_overrides.${where}`;
  return new RolloutError("ROLLOUT_TEXT_OVERRIDES", `${name} ${problem}.`);
}

/** The `responses_create_params` of a row with the texts replaced. */
export function overrideTexts(params: Row, overrides: TextOverrides): Row {
  const { system_prompt: prompt, system_prompt_role: role = "system", tools } = overrides;
  const prompted = prompt === undefined ? params : withSystemPrompt(params, prompt, role);
  if (tools === undefined || !Array.isArray(params["tools"])) return prompted;
  return { ...prompted, tools: params["tools"].map((tool) => withToolTexts(tool, tools)) };
}

/** The system prompt of a row; an empty text if it has none. */
export function systemPromptOf(params: Row): string {
  const { instructions } = params;
  if (typeof instructions === "string" && instructions !== "") return instructions;
  const [first] = Array.isArray(params["input"]) ? params["input"] : [];
  return isSystemMessage(first) ? textOf(first["content"]) : "";
}

function withSystemPrompt(params: Row, prompt: string, role: string): Row {
  const { instructions, input } = params;
  if (typeof instructions === "string" && instructions !== "") return { ...params, instructions: prompt };
  const items: unknown[] = Array.isArray(input) ? input : [{ role: "user", content: input ?? "" }];
  const [first, ...rest] = items;
  if (isSystemMessage(first)) return { ...params, input: [{ ...first, content: prompt }, ...rest] };
  if (role !== "user") return { ...params, input: [{ role, content: prompt }, ...items] };
  const place = items.findIndex((item) => isObject(item) && item["role"] === "user");
  if (place === -1) return { ...params, input: [{ role: "user", content: prompt }, ...items] };
  return { ...params, input: items.with(place, withPrefix(items[place] as Row, prompt)) };
}

function withPrefix(message: Row, prompt: string): Row {
  const { content } = message;
  if (!Array.isArray(content)) return { ...message, content: `${prompt}\n\n${content}` };
  return { ...message, content: [{ type: "input_text", text: prompt }, ...content] };
}

function isSystemMessage(item: unknown): item is Row {
  return isObject(item) && (item["role"] === "system" || item["role"] === "developer");
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (isObject(part) ? String(part["text"] ?? "") : "")).join("");
}

function withToolTexts(tool: unknown, texts: NonNullable<TextOverrides["tools"]>): unknown {
  if (!isObject(tool) || typeof tool["name"] !== "string" || !Object.hasOwn(texts, tool["name"])) return tool;
  const { description, parameters = {} } = texts[tool["name"]] ?? {};
  let schema: unknown = tool["parameters"];
  for (const [path, text] of Object.entries(parameters)) schema = withDescription(schema, path, text);
  return { ...tool, ...(description !== undefined && { description }), parameters: schema };
}

/** A copy of a JSON Schema with another description at a path of properties; unchanged if there is no such path. */
function withDescription(schema: unknown, path: string, description: string): unknown {
  if (!isObject(schema)) return schema;
  const { properties, items } = schema;
  if (isObject(items) && !isObject(properties))
    return { ...schema, items: withDescription(items, path, description) };
  // Names of properties may contain dots: the longest name that fits is the property.
  const name = Object.keys(isObject(properties) ? properties : {})
    .filter((known) => path === known || path.startsWith(`${known}.`))
    .sort((left, right) => right.length - left.length)[0];
  if (name === undefined || !isObject(properties)) return schema;
  const rest = path.slice(name.length + 1);
  const property = properties[name];
  const changed =
    rest === "" ? { ...(property as Row), description } : withDescription(property, rest, description);
  return { ...schema, properties: { ...properties, [name]: changed } };
}

/** The descriptions of a tool and of its parameters, by name as in `TextOverrides`. */
export function toolTextsOf(tool: unknown): { name: string; texts: Map<string, string> } | undefined {
  if (!isObject(tool) || typeof tool["name"] !== "string") return undefined;
  const texts = new Map([["description", String(tool["description"] ?? "")]]);
  const visit = (schema: unknown, path: string): void => {
    if (!isObject(schema)) return;
    const { properties, items } = schema;
    if (isObject(items)) visit(items, path);
    for (const [name, property] of Object.entries(isObject(properties) ? properties : {})) {
      const own = path === "" ? name : `${path}.${name}`;
      if (isObject(property)) texts.set(`parameters.${own}`, String(property["description"] ?? ""));
      visit(property, own);
    }
  };
  visit(tool["parameters"], "");
  return { name: tool["name"], texts };
}
