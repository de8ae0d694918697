import { isObject, type JsonObject } from "../../base/python/json/door.ts";
import type { Row } from "../../records/files/door.ts";
import type { LabelItem, LabelText } from "../api-types.ts";
import { prettyJson } from "../conversation/content-parts.ts";
import { verdictOf } from "../conversation/verdict.ts";

const MAX_CHARS = 200_000;
const MAX_FIELDS = 50;

/**
 * What people see of a rollout: the task and the answer. Only what is listed here leaves the server, so that reward, verdict and
 * model stay hidden. `fields` are those of the task's row, which was written before anybody judged.
 */
export function labelItem(
  row: Row,
  fields: JsonObject | undefined,
): Pick<LabelItem, "task" | "answer" | "fields"> {
  const params = isObject(row["responses_create_params"]) ? row["responses_create_params"] : {};
  const response = isObject(row["response"]) ? row["response"] : {};
  const instructions = textOf(params["instructions"]);
  const input = typeof params["input"] === "string" ? [userMessage(params["input"])] : params["input"];
  const about = fields === undefined ? [] : fieldTexts(fields);
  return {
    task: [...(instructions === "" ? [] : [cut("instructions", instructions)]), ...itemTexts(input)],
    answer: itemTexts(response["output"]),
    fields: about,
  };
}

function userMessage(content: string): JsonObject {
  return { role: "user", content };
}

function itemTexts(items: unknown): LabelText[] {
  if (!Array.isArray(items)) return [];
  return items.filter(isObject).flatMap((item): LabelText[] => {
    switch (item["type"] ?? "message") {
      case "message": {
        const text = textOf(item["content"]);
        return text === "" ? [] : [cut(String(item["role"] ?? "assistant"), text)];
      }
      case "function_call":
        return [cut(`call of ${String(item["name"])}`, textOf(item["arguments"]))];
      case "function_call_output":
        return [cut("result of the call", textOf(item["output"]))];
      default:
        return [];
    }
  });
}

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(partText).join("");
  return content === undefined || content === null ? "" : prettyJson(content);
}

function partText(part: unknown): string {
  if (!isObject(part)) return String(part);
  const text = part["text"] ?? part["refusal"];
  return typeof text === "string" ? text : `[${String(part["type"] ?? "content")}]`;
}

/** The expected answer first, then the other fields. */
function fieldTexts(fields: JsonObject): LabelText[] {
  const expected = verdictOf(fields).expected?.name;
  const names = Object.keys(fields).filter((name) => fields[name] !== null && fields[name] !== undefined);
  const ordered = [
    ...names.filter((name) => name === expected),
    ...names.filter((name) => name !== expected),
  ];
  return ordered.slice(0, MAX_FIELDS).map((name) => cut(name, textOf(fields[name])));
}

function cut(name: string, text: string): LabelText {
  const omitted = text.length - MAX_CHARS;
  return { name, text: omitted > 0 ? `${text.slice(0, MAX_CHARS)}\n[${omitted} characters omitted]` : text };
}
