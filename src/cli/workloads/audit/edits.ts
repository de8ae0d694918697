import { isObject } from "../../../base/python/json/door.ts";
import { functionCallItem, messageItem } from "../../../servers/hosting/light-door.ts";
import type { AuditAttempt, AuditToolCall } from "./rollout.ts";

/** An edited right answer. `edit` is its name in reports and in `audit.yaml`. */
export interface Edited<T> {
  readonly edit: string;
  readonly value: T;
}

/** A right answer, with the part of its text that says what the answer is. */
export interface RightAnswer {
  /** Calls that the tools run before the answer. */
  readonly calls: readonly AuditToolCall[];
  /** Calls that are the answer; no tool runs them. */
  readonly itemCalls: readonly AuditToolCall[];
  readonly text?: string;
  /** The part of `text` that may be edited, if it is known. */
  readonly payload?: Payload;
}

interface Payload {
  readonly before: string;
  readonly value: string;
  readonly after: string;
  /** Whether something marks the answer, such as a box. Without a mark the text is the answer. */
  readonly marked: boolean;
}

/** Texts in which an answer is marked. The last one of a text counts. */
const MARKS: readonly RegExp[] = [
  /(?<before>\\boxed\{)(?<value>.*)(?<after>\}[^}]*)$/s,
  /(?<before><(?<tag>[\w-]+)>)(?<value>[^<]*)(?<after><\/\k<tag>>[^<]*)$/s,
  /(?<before><\|BEGIN_CODE\|>)(?<value>.*)(?<after><\|END_CODE\|>)$/s,
  /(?<before>\(\()(?<value>.*)(?<after>\)\))$/s,
  /(?<before>answer:[ \t]*)(?<value>[^\n]*)(?<after>(?:\n.*)?)$/is,
];
/** A longer text is prose, in which a small change may not matter. */
const MAX_WORDS_PAYLOAD = 80;

/** Finds the part to edit. `known` says that the whole text is the answer of the row. */
export function editedPartOf(text: string, known: boolean): Payload | undefined {
  for (const mark of MARKS) {
    const match = mark.exec(text);
    const { before = "", value = "", after = "" } = match?.groups ?? {};
    if (match === null || value.trim() === "") continue;
    return { before: text.slice(0, match.index) + before, value, after, marked: true };
  }
  const plain = { before: "", value: text, after: "", marked: false };
  if (parsed(text) !== undefined || NUMBER.test(text.trim())) return plain;
  return known && text.length <= MAX_WORDS_PAYLOAD && !text.includes("```") ? plain : undefined;
}

const NUMBER = /^[-+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?$/;

/** Lists and objects. */
function parsed(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Small changes after which the answer is wrong. */
export function nearMisses(
  answer: RightAnswer,
  { options, comparesCalls }: { options: readonly string[]; comparesCalls: boolean },
): AuditAttempt[] {
  const { calls, itemCalls, text, payload } = answer;
  const attempts: AuditAttempt[] = [];
  for (const { edit, value } of editedCalls(calls, comparesCalls))
    attempts.push(attemptOf(edit, { ...answer, calls: value }));
  for (const { edit, value } of editedCalls(itemCalls, comparesCalls))
    attempts.push(attemptOf(edit, { ...answer, itemCalls: value }));
  if (text === undefined || payload === undefined) return attempts;
  for (const { edit, value } of editedPayload(payload.value, options))
    attempts.push(attemptOf(edit, { ...answer, text: payload.before + value + payload.after }));
  return attempts;
}

export function attemptOf(policy: string, { calls, itemCalls, text }: RightAnswer): AuditAttempt {
  const items = itemCalls.map((call, at) => functionCallItem(call.name, call.arguments, `call_gold_${at}`));
  return { policy, calls, items: text === undefined ? items : [...items, messageItem(text)] };
}

/** Where tools run the calls, only their effect counts, and a call or an argument more may have none. */
function editedCalls(calls: readonly AuditToolCall[], comparesCalls: boolean): Edited<AuditToolCall[]>[] {
  const edits: Edited<AuditToolCall[]>[] = [];
  for (const [at, call] of calls.entries()) {
    const put = (changed: AuditToolCall) => calls.with(at, changed);
    edits.push({ edit: "call omitted", value: calls.toSpliced(at, 1) });
    edits.push({ edit: "other tool", value: put({ ...call, name: `${call.name}_2` }) });
    const given = argumentsOf(call);
    if (given === undefined) continue;
    for (const [key, value] of Object.entries(given)) {
      const { [key]: _left, ...others } = given;
      edits.push({ edit: "argument omitted", value: put({ ...call, arguments: others }) });
      for (const changed of changedLeaves(value))
        edits.push({
          edit: "argument changed",
          value: put({ ...call, arguments: { ...given, [key]: changed } }),
        });
    }
    if (comparesCalls)
      edits.push({
        edit: "argument added",
        value: put({ ...call, arguments: { ...given, extra_argument: 1 } }),
      });
  }
  const [first] = calls;
  if (first !== undefined && comparesCalls) edits.push({ edit: "call added", value: [...calls, first] });
  return edits;
}

/** Some rows have the arguments as text. */
function argumentsOf({ arguments: given }: AuditToolCall): Record<string, unknown> | undefined {
  const value = typeof given === "string" ? parsed(given) : given;
  return isObject(value) ? value : undefined;
}

/** The value with one part changed: the first and the last number, text or truth value in it. */
function changedLeaves(value: unknown): unknown[] {
  const count = leafCount(value);
  const places = count > 1 ? [0, count - 1] : [0];
  return places.slice(0, count).map((place) => changeLeaf(value, { left: place }));
}

function leafCount(value: unknown): number {
  if (typeof value !== "object" || value === null) return value === null || value === undefined ? 0 : 1;
  return Object.values(value).reduce((sum: number, member) => sum + leafCount(member), 0);
}

function changeLeaf(value: unknown, place: { left: number }): unknown {
  if (Array.isArray(value)) return value.map((member) => changeLeaf(member, place));
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, changeLeaf(member, place)]));
  if (value === null || value === undefined || place.left-- !== 0) return value;
  if (typeof value === "number") return value + 1;
  if (typeof value === "boolean") return !value;
  return `${String(value)}x`;
}

/** The edits that fit what the text is: an option, a number, JSON, a list, a formula or words. */
export function editedPayload(text: string, options: readonly string[]): Edited<string>[] {
  const value = text.trim();
  const others = options.filter((option) => option !== value);
  if (others.length < options.length) return others.map((other) => ({ edit: "other option", value: other }));
  if (NUMBER.test(value)) return editedNumber(value);
  const data = parsed(text);
  if (data !== undefined) return editedData(data);
  const list = /^\[(.*)\]$/s.exec(value);
  if (list !== null) return editedList(list[1] ?? "");
  const digits = /\d+(?=\D*$)/.exec(value);
  const changed =
    digits === null
      ? []
      : [{ edit: "value changed", value: replaceAt(value, digits, String(Number(digits[0]) + 1)) }];
  if (digits !== null && (value.includes("\n") || /^[\d\s(),.;:-]+$/.test(value))) return changed;
  if (/[\\^=_{}]/.test(value)) return [{ edit: "term added", value: `${value}+1` }, ...changed];
  return [...changed, ...editedWords(value)];
}

function replaceAt(text: string, { index, 0: found }: RegExpExecArray, by: string): string {
  return text.slice(0, index) + by + text.slice(index + found.length);
}

function editedNumber(text: string): Edited<string>[] {
  const plain = text.replaceAll(",", "");
  const number = Number(plain);
  const digits = plain.split(".")[1]?.length ?? 0;
  const edits = [{ edit: "off by one", value: (number + 1).toFixed(digits) }];
  if (number !== 0)
    edits.push(
      { edit: "sign", value: (-number).toFixed(digits) },
      { edit: "ten times", value: (number * 10).toFixed(digits) },
    );
  return edits;
}

function editedData(data: object): Edited<string>[] {
  const edits = changedLeaves(data).map((value) => ({ edit: "value changed", value: JSON.stringify(value) }));
  if (Array.isArray(data)) {
    if (data.length > 0)
      edits.push(
        { edit: "item omitted", value: JSON.stringify(data.slice(0, -1)) },
        { edit: "item added", value: JSON.stringify([...data, changeLeaf(data.at(-1), { left: 0 })]) },
      );
    return edits;
  }
  for (const [key, member] of Object.entries(data)) {
    const { [key]: _left, ...others } = data as Record<string, unknown>;
    edits.push({ edit: "key omitted", value: JSON.stringify(others) });
    if (!Array.isArray(member) || member.length === 0) continue;
    const put = (list: unknown[]) => JSON.stringify({ ...data, [key]: list });
    edits.push(
      { edit: "item omitted", value: put(member.slice(0, -1)) },
      { edit: "item added", value: put([...member, changeLeaf(member.at(-1), { left: 0 })]) },
    );
  }
  return edits;
}

/** A list without quotes, such as `[ash, oak]`. */
function editedList(inner: string): Edited<string>[] {
  const items = inner.split(",").map((item) => item.trim());
  const added = { edit: "item added", value: `[${[...items.filter(Boolean), "other_item"].join(", ")}]` };
  if (inner.trim() === "") return [added];
  return [
    added,
    { edit: "item omitted", value: `[${items.slice(0, -1).join(", ")}]` },
    { edit: "value changed", value: `[${items.with(-1, `${items.at(-1)}x`).join(", ")}]` },
  ];
}

function editedWords(text: string): Edited<string>[] {
  const words = text.split(/\s+/);
  const edits = [
    { edit: "letter changed", value: `${text.slice(0, -1)}${text.endsWith("x") ? "y" : "x"}` },
    { edit: "word added", value: `${text} otherwise` },
  ];
  if (words.length > 1) edits.push({ edit: "word omitted", value: words.slice(0, -1).join(" ") });
  return edits;
}

/** Changes of form after which the answer is still right. */
export function rewritings(answer: RightAnswer): AuditAttempt[] {
  const { calls, itemCalls, text, payload } = answer;
  const attempts: AuditAttempt[] = [];
  const plain = attemptOf("reasoning first", answer);
  attempts.push({ ...plain, items: [THOUGHTS, ...plain.items] });
  const reordered = (list: readonly AuditToolCall[]) =>
    list.map((call) => {
      const given = argumentsOf(call);
      return given === undefined ? call : { ...call, arguments: backwards(given) };
    });
  if ([...calls, ...itemCalls].some((call) => Object.keys(argumentsOf(call) ?? {}).length > 1))
    attempts.push(
      attemptOf("argument order", { ...answer, calls: reordered(calls), itemCalls: reordered(itemCalls) }),
    );
  if (text === undefined) return attempts;
  const rewrite = (edit: string, changed: string) =>
    attempts.push(attemptOf(edit, { ...answer, text: changed }));
  if (payload === undefined) return attempts;
  rewrite("surrounding space", `\n${text}\n\n`);
  const data = parsed(payload.value);
  if (data !== undefined) {
    const write = (value: unknown, indent?: number) =>
      payload.before + JSON.stringify(value, null, indent) + payload.after;
    rewrite("JSON on several lines", write(data, 2));
    if (isObject(data) && Object.keys(data).length > 1) rewrite("key order", write(backwards(data)));
  }
  if (payload.marked) {
    rewrite("text before", `Let me work this out step by step.\n\n${text}`);
    rewrite("space in the mark", `${payload.before} ${payload.value} ${payload.after}`);
  }
  if (payload.before.endsWith("\\boxed{"))
    for (const { edit, value } of mathForms(payload.value.trim()))
      rewrite(edit, payload.before + value + payload.after);
  return attempts;
}

/** Other ways to write what is in a box. */
function mathForms(value: string): Edited<string>[] {
  const forms: Edited<string>[] = [];
  if (NUMBER.test(value)) {
    const [whole = "", decimals] = value.replaceAll(",", "").split(".");
    forms.push({
      edit: "number form",
      value: decimals === undefined ? `${whole}.0` : `${whole}.${decimals}0`,
    });
    const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, "{,}");
    if (grouped !== whole)
      forms.push({ edit: "digit groups", value: [grouped, decimals].filter(Boolean).join(".") });
  } else if (/\\[dt]?frac\b/.test(value)) {
    forms.push({ edit: "LaTeX form", value: value.replaceAll(/\\[dt]?frac\b/g, "\\dfrac") });
    forms.push({ edit: "LaTeX form", value: value.replaceAll(/\\[dt]?frac\b/g, "\\tfrac") });
  }
  if (NUMBER.test(value) || value.includes("\\")) forms.push({ edit: "LaTeX form", value: `$${value}$` });
  return forms.filter((form) => form.value !== value);
}

function backwards(data: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(data).reverse());
}

const THOUGHTS = {
  id: "rs_test",
  type: "reasoning",
  summary: [{ type: "summary_text", text: "I compare what is asked with what is given." }],
};
