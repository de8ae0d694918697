import { isObject, type JsonObject } from "../../../base/python/json/door.ts";
import type { AuditFinding, Check } from "../audit/audit.ts";
import { goldAttempts, randomToolAttempt, rightAnswerOf, toolsOf } from "../audit/policies.ts";

/** Words that announce what follows as the answer. */
const ANNOUNCED =
  /(?:answer|solution|expected(?:_\w+)?|ground[ _]truth|gold|result|label|target)["'`*]*\s*(?:is|are|=|:|->|→)\s*["'`*\\{(boxed]*/gi;
/** Shorter answers occur by chance. */
const MIN_NAMED = 4;

export const leakCheck: Check = {
  name: "answer-not-announced",
  title: "The prompt, the tools, their replies and file names do not give the answer away",
  async run(audit) {
    const findings: AuditFinding[] = [];
    let known = 0;
    for (const [index, row] of audit.rows.entries()) {
      const answers = answersOf(row, index, audit.settings.gold);
      if (answers.length === 0) continue;
      known++;
      const places: [where: string, text: string][] = textsOf(row["responses_create_params"], "prompt");
      if (toolsOf(row).length > 0 && audit.settings.call_tools) {
        const { toolReplies } = await audit.rollout(index, randomToolAttempt(row, `leak ${index}`));
        for (const { name, text } of toolReplies) places.push([`reply of ${name}`, text]);
      }
      for (const [where, text] of places) {
        const answer = answers.find((each) => gives(text, each));
        if (answer === undefined) continue;
        const evidence = { answer, text: text.slice(0, 500) };
        findings.push({
          message: `The answer '${answer.slice(0, 40)}' is in: ${where}.`,
          row: index + 1,
          evidence,
        });
        break;
      }
    }
    if (known === 0) return { findings, skipped: "no row has its right answer" };
    return { findings, note: `${known} rows`, measured: { rows: known } };
  },
};

function answersOf(row: JsonObject, index: number, gold: Parameters<typeof goldAttempts>[2]): string[] {
  const [attempt] = goldAttempts(row, index, gold);
  if (attempt === undefined) return [];
  const { payload, text } = rightAnswerOf(attempt, gold === undefined);
  const answer = (payload?.value ?? text ?? "").trim();
  return answer === "" || answer === "Done." ? [] : [answer];
}

/** Texts of a request, with the place of each. */
function textsOf(value: unknown, where: string): [string, string][] {
  if (typeof value === "string") return [[where, value]];
  if (Array.isArray(value)) return value.flatMap((member) => textsOf(member, where));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    const place = {
      tools: "tools",
      filename: "file name",
      image_url: "file name",
      file_url: "file name",
      metadata: "metadata",
    }[key];
    return textsOf(member, place ?? where);
  });
}

function gives(text: string, answer: string): boolean {
  const wanted = answer.toLowerCase();
  for (const match of text.matchAll(ANNOUNCED)) {
    const after = text.slice(match.index + match[0].length).toLowerCase();
    if (after.startsWith(wanted) && !/^[\w.]*\w/.test(after.slice(wanted.length))) return true;
  }
  if (wanted.length < MIN_NAMED || /\s/.test(wanted)) return false;
  // The name of a file, such as images/heron.png.
  return text
    .toLowerCase()
    .split(/[\s"'()]+/)
    .some((word) => /\.\w{2,5}$/.test(word) && word.split(/[/._-]/).includes(wanted));
}

/** Fields that name a row and say nothing about the task. */
const NAMES = /^(?:id|uuid|uid|index|.*_id|.*_idx)$/;

export const duplicateCheck: Check = {
  name: "rows-unique",
  title: "No task occurs twice, with the same answer or with another",
  async run({ rows, settings }) {
    const findings: AuditFinding[] = [];
    const seen = new Map<string, { row: number; rest: string }>();
    for (const [index, row] of rows.entries()) {
      if (goldAttempts(row, index, settings.gold).length === 0) continue;
      const { responses_create_params: request, ...others } = row;
      const key = JSON.stringify(request)
        .toLowerCase()
        .replaceAll(/\\n|\s+/g, " ");
      const rest = JSON.stringify(Object.entries(others).filter(([name]) => !NAMES.test(name)));
      const before = seen.get(key);
      if (before === undefined) seen.set(key, { row: index + 1, rest });
      else {
        const how = before.rest === rest ? "the same task" : "the same prompt with another answer";
        findings.push({ message: `It is ${how} as row ${before.row}.`, row: index + 1, evidence: { rest } });
      }
    }
    return { findings, note: `${rows.length} rows`, measured: { rows: rows.length } };
  },
};
