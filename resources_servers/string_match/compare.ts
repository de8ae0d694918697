import {
  codePointLength,
  compilePyRegex,
  floatRepr,
  parsePyFloat,
  rstrip,
  splitWords,
  strip,
} from "nemo-gym/python";
import { plainLatex } from "./latex.ts";
import { abbreviateStates } from "./states.ts";

/** Reward of numbers that are close but not equal. */
const closeReward = 0.98;
const closeEnough = 0.98;

/** The score of an answer: 1, 0.98 for numbers that are almost equal, or 0. */
export function compareAnswers(answer: string, expected: string, caseSensitive: boolean): number {
  if (caseSensitive) return strip(answer) === strip(expected) ? 1 : 0;
  const left = normalized(answer);
  const right = normalized(expected);
  const readings = [same, asFloat, withoutThousands, plainLatex, asList, withStateCodes];
  if (readings.some((reading) => reading(left) === reading(right))) return 1;
  if (numericCloseness(left, right) > closeEnough) return closeReward;
  const leftBare = withoutUnits(plainLatex(left));
  const rightBare = withoutUnits(plainLatex(right));
  if (leftBare === rightBare) return 1;
  return numericCloseness(leftBare, rightBare) > closeEnough ? closeReward : 0;
}

function normalized(text: string): string {
  const lower = withoutQuotes(text.normalize("NFKC")).toLowerCase();
  return rstrip(lower, ".!?") || lower;
}

function withoutQuotes(text: string): string {
  const first = text[0];
  const quoted = text.length >= 2 && first === text.at(-1) && (first === '"' || first === "'");
  return quoted ? text.slice(1, -1) : text;
}

const same = (text: string) => text;

function asFloat(text: string): string {
  const value = parsePyFloat(text.replaceAll("\\%", "").replaceAll("\\$", "").replaceAll("$", ""));
  return value === undefined ? text : floatRepr(value);
}

const thousands = compilePyRegex(String.raw`(\d+),(\d+)`);

/** Removes commas between digits; of two commas around one run of digits only the first is removed. */
function withoutThousands(text: string): string {
  const joined = thousands.sub(text, (match) => `${match.group(1)}${match.group(2)}`);
  return joined.replaceAll("\\%", "%");
}

/** Normalizes the separators of a list; unchanged if separators make up more than a tenth of the text. */
function asList(text: string): string {
  const spaced = text.replace(/[,;]/g, " ").replaceAll("and", " ").replaceAll("or", " ");
  if (codePointLength(spaced) < 0.9 * codePointLength(text)) return text;
  return splitWords(spaced).join(" ");
}

function withStateCodes(text: string): string {
  return asList(abbreviateStates(text)).toLowerCase();
}

const mathSymbols: Readonly<Record<string, string>> = {
  "°": "^\\circ",
  "²": "^2",
  "³": "^3",
  "⁴": "^4",
  "⁵": "^5",
  "⁶": "^6",
  "⁷": "^7",
  "⁸": "^8",
  "⁹": "^9",
  "√": "\\sqrt",
  "﹣": "-",
  "﹢": "+",
  "﹦": "=",
  "﹤": "<",
  "﹥": ">",
  "：": ":",
  π: "\\pi",
};
const anyMathSymbol = new RegExp(`[${Object.keys(mathSymbols).join("")}]`, "g");
const unit = /\^\{?\\circ\}?|\\circ|°|cm[²³]?|mm|km|m[²³]?|kg/g;

/** Normalizes LaTeX symbols and removes degrees, metres and kilograms, including every letter m. */
function withoutUnits(text: string): string {
  return strip(text.replace(anyMathSymbol, (symbol) => mathSymbols[symbol] ?? symbol).replace(unit, ""));
}

function bareNumber(text: string): number | undefined {
  const bare = withoutUnits(text.replace(/[$£€%,]/g, ""));
  return parsePyFloat(bare.replaceAll("\\%", "").replaceAll("\\$", ""));
}

/** 1 for equal numbers, decreasing with the square of the relative error; 0 if one of them is not a number. */
function numericCloseness(answer: string, expected: string): number {
  const value = bareNumber(answer);
  const wanted = bareNumber(expected);
  if (value === undefined || wanted === undefined) return 0;
  const error = Math.abs(value - wanted) / Math.max(Math.abs(wanted), 1e-9);
  return Math.max(0, 1 - error) ** 2;
}
