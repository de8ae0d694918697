import { dumps, isObject, type JsonObject } from "../../base/python/json/door.ts";
import { hasPopulatedInput } from "../prompt-config.ts";
import { chatParts, isChat, isShareGpt, shareGptMessages } from "./chat.ts";
import { Fields, letterAt, listOf, type Meaning, Misfit, optionsOf, rightOption, textOf } from "./fields.ts";
import type { RowFormat } from "./format-names.ts";
import { preferenceParts } from "./preference.ts";

export type FieldMap = Readonly<Record<string, string>>;

/** What is told once about all rows, not about one. */
export type Notice = "several_answers" | "no_answer" | "ends_with_call";

interface ConvertOptions {
  readonly map?: FieldMap;
  /** Leaves the input to a prompt config. */
  readonly withoutInput?: boolean;
  readonly notice: (notice: Notice) => void;
}

/** The format of one row; undefined if it is none of them. */
export function detectFormat(row: JsonObject, map: FieldMap = {}): RowFormat | undefined {
  const fields = new Fields(row, map);
  const value = (meaning: Meaning) => {
    const name = fields.nameOf(meaning);
    return name === undefined ? undefined : listOf(row[name]);
  };
  if (isObject(row["responses_create_params"]) && Object.keys(map).length === 0) return "rows";
  if (isChat(value("messages")) || isChat(value("conversations"))) return "messages";
  if (isShareGpt(value("conversations"))) return "sharegpt";
  if (fields.has("chosen") && fields.has("rejected")) return "preference";
  if (isChat(value("question"))) return "messages";
  if (map["question"] === undefined && fields.hasNamed("instruction") && fields.hasNamed("output"))
    return "instruction";
  const hasAnswer = fields.has("expected_answer");
  const hasOptions = fields.has("options") || (fields.hasNamed("A") && fields.hasNamed("B"));
  if (fields.has("question") && hasOptions && hasAnswer) return "multiple_choice";
  return fields.has("question") && (hasAnswer || map["question"] !== undefined) ? "question" : undefined;
}

/** Converts one row. Throws `Misfit` with the reason if it does not fit. */
export function convertRow(row: JsonObject, format: RowFormat, options: ConvertOptions): JsonObject {
  const fields = new Fields(row, options.map);
  switch (format) {
    case "rows":
      if (!isObject(row["responses_create_params"])) throw new Misfit("it has no responses_create_params");
      if (options.withoutInput && hasPopulatedInput(row)) throw new Misfit("it already has an input");
      return row;
    case "messages":
      return chatRow(messagesOf(fields), fields, options);
    case "sharegpt":
      return chatRow(shareGptMessages(listOf(fields.take("conversations"))), fields, options);
    case "preference":
      return preferenceRow(fields);
    case "instruction":
      return instructionRow(fields, options);
    case "multiple_choice":
      return choiceRow(fields, options);
    case "question":
      return questionRow(fields, options);
  }
}

function messagesOf(fields: Fields): unknown {
  for (const meaning of ["messages", "conversations"] as const) {
    const name = fields.nameOf(meaning);
    if (name !== undefined && isChat(listOf(fields.takeNamed(name)))) return listOf(fields.takeNamed(name));
  }
  const [prompt, completion] = [listOf(fields.take("question")), listOf(fields.take("expected_answer"))];
  const answer = typeof completion === "string" ? [{ role: "assistant", content: completion }] : completion;
  return Array.isArray(prompt) ? [...prompt, ...(Array.isArray(answer) ? answer : [])] : prompt;
}

function chatRow(messages: unknown, fields: Fields, options: ConvertOptions): JsonObject {
  const tools = listOf(fields.takeNamed("tools"));
  const { params, answer, call } = chatParts(messages, tools);
  if (call !== undefined) options.notice("ends_with_call");
  else if (answer === undefined) options.notice("no_answer");
  return {
    responses_create_params: params,
    ...(answer !== undefined && { expected_answer: answer }),
    ...(call !== undefined && { expected_message: call }),
    ...fields.rest(),
  };
}

function preferenceRow(fields: Fields): JsonObject {
  const { params, chosen, rejected } = preferenceParts(
    listOf(fields.take("question")),
    listOf(fields.take("chosen")),
    listOf(fields.take("rejected")),
  );
  return { ...fields.rest(), responses_create_params: params, chosen, rejected };
}

function instructionRow(fields: Fields, options: ConvertOptions): JsonObject {
  const instruction = textOf(fields.takeNamed("instruction"), "the instruction");
  const context = fields.takeNamed("input");
  const question =
    context === undefined || context === ""
      ? instruction
      : `${instruction}\n\n${textOf(context, "the input")}`;
  const expected = textOf(fields.takeNamed("output"), "the output");
  return { ...rowOf(question, fields, options), expected_answer: expected, ...fields.rest() };
}

function questionRow(fields: Fields, options: ConvertOptions): JsonObject {
  const question = nonEmpty(textOf(fields.take("question"), "the question"), "the question");
  const answers = answersOf(listOf(fields.take("expected_answer")));
  if (answers.length === 0) options.notice("no_answer");
  if (answers.length > 1) options.notice("several_answers");
  return {
    ...rowOf(question, fields, options),
    ...(answers.length > 0 && { expected_answer: answers[0] }),
    ...(answers.length > 1 && { expected_answers: answers }),
    ...fields.rest(),
  };
}

/** One answer, or a list of equally right ones. */
function answersOf(given: unknown): string[] {
  if (given === undefined || given === null || given === "") return [];
  if (isObject(given)) {
    // Question-answering sets: {text: [...]}, or {value, aliases}.
    const { text, value, aliases } = given;
    if (Array.isArray(text)) return answersOf(text);
    if (typeof value === "string")
      return [...new Set([value, ...(Array.isArray(aliases) ? aliases.map(String) : [])])];
    throw new Misfit(`the answer is an object (${Object.keys(given).join(", ")})`);
  }
  if (!Array.isArray(given)) return [textOf(given, "the answer")];
  return [...new Set(given.map((item) => textOf(item, "an answer")))];
}

function choiceRow(fields: Fields, options: ConvertOptions): JsonObject {
  const question = nonEmpty(textOf(fields.take("question"), "the question"), "the question");
  const choices = optionsOf(fields);
  if (choices === undefined || choices.texts.length < 2) throw new Misfit("it has fewer than two options");
  const right = rightOption(fields.take("expected_answer"), choices);
  const listed = choices.texts.map((text, index) => `${letterAt(index)}: ${text}`).join("\n");
  const asked = `${question}\n\n${listed}\n\nGive the letter of the right option in \\boxed{}.`;
  return {
    ...rowOf(asked, fields, options, question),
    options: choices.texts.map((text, index) => ({ [letterAt(index)]: text })),
    expected_answer: letterAt(right),
    ...fields.rest(),
  };
}

function rowOf(
  asked: string,
  fields: Fields,
  { withoutInput }: ConvertOptions,
  question = asked,
): JsonObject {
  const system = fields.take("system");
  const input = [
    ...(typeof system === "string" && system !== "" ? [{ role: "system", content: system }] : []),
    { role: "user", content: asked },
  ];
  return { responses_create_params: { input: withoutInput ? [] : input }, question };
}

function nonEmpty(text: string, what: string): string {
  if (text.trim() === "") throw new Misfit(`${what} is empty`);
  return text;
}

/** The fields of a row as a message shows them. */
export function fieldList(row: JsonObject): string {
  return Object.entries(row)
    .slice(0, 12)
    .map(
      ([name, value]) => `${name} (${typeof value === "object" ? dumps(value).slice(0, 24) : typeof value})`,
    )
    .join(", ");
}
