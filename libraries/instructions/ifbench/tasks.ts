import { splitWords, strip } from "nemo-gym/python";
import { csvRecords } from "nemo-gym/verify";
import type { Instruction, Instructions } from "../instruction.ts";
import { PUNCTUATION, withoutPunctuation } from "../text/punctuation.ts";

const EDGES = `${PUNCTUATION} `;
const MULTIPLES = ["14", "21", "28", "35", "42", "49"];
const CAPITALS =
  "Reykjavik, Helsinki, Oslo, Tallinn, Stockholm, Riga, Moscow, Copenhagen, Vilnius, Minsk, Dublin, Berlin, Amsterdam, Warsaw, London, Brussels, Prague, Luxembourg, Paris, Vienna, Bratislava, Budapest, Vaduz, Chisinau, Bern, Ljubljana, Zagreb";
const OPTION = /^[A-Ea-e][.|)]\s*[\p{L}\p{N}_]/u;
const DAYS = [99, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Letters without their marks; other characters outside ASCII are left out. */
function asciiOf(text: string): string {
  return text.normalize("NFKD").replace(/[^\x00-\x7f]/g, "");
}

/** A task of its own: the check ignores arguments. */
function task(check: (text: string) => boolean): Instruction {
  return { kwargs: "any", check };
}

/** Four questions with five options each, every question longer than the one before. */
function hasGrowingQuestions(text: string): boolean {
  if (!text.startsWith("Question")) return false;
  const questions = text
    .split(/Question \p{Nd}+[.|):;]?/u)
    .map((question) => strip(question))
    .filter((question) => question !== "");
  const lengths = questions.map((question) => {
    const lines = question.split("\n").map((line) => strip(line));
    const options = lines.filter((line) => OPTION.test(line));
    if (options.length !== 5) return Number.NaN;
    const asked = lines.slice(0, lines.indexOf(options[0] ?? "")).join(" ");
    return [...strip(asked)].length;
  });
  return lengths.length === 4 && lengths.every((length, index) => length > (lengths[index - 1] ?? -1));
}

/** At least 52 lines from Zimbabwe on, in descending order. */
function listsBackwards(text: string): boolean {
  const lines = text
    .split("\n")
    .map((line) => strip(line, EDGES))
    .filter((line) => line !== "");
  const start = lines.findIndex((line) => line.includes("Zimbabwe"));
  const listed = start < 0 ? [] : lines.slice(start).map(asciiOf);
  return (
    listed.length >= 52 && listed.every((line, index) => index === 0 || line <= (listed[index - 1] ?? ""))
  );
}

/** Whether the first line is a header with these names, each perhaps in quotes. */
function hasHeader(text: string, names: readonly string[], separator: RegExp): boolean {
  const found = strip(text.split("\n")[0] ?? "").split(separator);
  return (
    found.length === names.length && names.every((name, i) => found[i] === name || found[i] === `"${name}"`)
  );
}

/** The records with their quotes. */
function quotedRecords(text: string, delimiter: string): string[][] {
  return csvRecords(text.replaceAll('"', '"""'), delimiter);
}

/** Whether a field in quotes has a character other than letters, digits and white space. */
function hasSpecialCharacter(field: string): boolean {
  const line = field.split("\n")[0] ?? "";
  return line.startsWith('"') && /[^\p{L}\p{N}_\s]/u.test(line.slice(1, line.lastIndexOf('"')));
}

function isQuoted(field: string): boolean {
  const stripped = strip(field);
  return stripped.startsWith('"') && stripped.endsWith('"');
}

function isNapoleonicDate(text: string): boolean {
  const date = /^(\d{4})-(\d{2})-(\d{2})$/.exec(strip(text));
  if (!date) return false;
  const [year = 0, month = 0, day = 0] = date.slice(1).map(Number);
  return year >= 1769 && year <= 1821 && month <= 12 && day <= (DAYS[month] ?? 0);
}

export const taskInstructions: Instructions = {
  "custom:multiples": task((text) => {
    const numbers = text.match(/\p{Nd}+/gu) ?? [];
    return (
      numbers.length === MULTIPLES.length && numbers.every((number, index) => number === MULTIPLES[index])
    );
  }),
  "custom:mcq_count_length": task(hasGrowingQuestions),
  "custom:reverse_newline": task(listsBackwards),
  "custom:word_reverse": task((text) =>
    splitWords(withoutPunctuation(text.toLowerCase())).reverse().join(" ").includes("bald eagle"),
  ),
  "custom:character_reverse": task((text) => text.toLowerCase().includes("elgae dlab")),
  "custom:european_capitals_sort": task((text) => {
    const listed = asciiOf(text)
      .split(",")
      .map((name) => strip(name))
      .filter((name) => name !== "");
    return listed.join(", ") === CAPITALS;
  }),
  "custom:csv_city": task((text) => {
    const [header, ...rows] = csvRecords(text);
    return (
      header?.join() === "ID,Country,City,Year,Count" &&
      header.length === 5 &&
      rows.length === 7 &&
      rows.every((row) => row.length === 5)
    );
  }),
  "custom:csv_special_character": task((text) => {
    const names = ["ProductID", "Category", "Brand", "Price", "Stock"];
    if (!hasHeader(text, names, /,[ \t]*/)) return false;
    const rows = quotedRecords(text, ",").slice(1);
    const special = rows.findIndex((row) => row.some(hasSpecialCharacter));
    return rows.length === 14 && special >= 0 && rows.slice(0, special + 1).every((row) => row.length === 5);
  }),
  "custom:csv_quotes": task((text) => {
    const names = ["StudentID", "Subject", "Grade", "Semester", "Score"];
    if (!hasHeader(text, names, /\t */)) return false;
    const rows = quotedRecords(text, "\t");
    return rows.length === 4 && rows.every((row) => row.length === 5 && row.every(isQuoted));
  }),
  "custom:date_format_list": task((text) => text.split(",").every(isNapoleonicDate)),
};
