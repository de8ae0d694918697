import { compilePyRegex, SPACE_CLASS, strip } from "nemo-gym/python";

const space = `[${SPACE_CLASS}]*`;
const whitespace = new RegExp(space, "uy");

interface Wrapper {
  opening: RegExp;
  closing: string;
  /** White space after the opening belongs to it. */
  padded: boolean;
  minimum: 0 | 1;
}

/** Answers between two marks: the first `x` of the example is the answer. Blanks in marks stand for any white space. */
const wrapper = (opening: string, closing: string, padded = false, minimum: 0 | 1 = 1): Wrapper => ({
  opening: new RegExp(opening.replaceAll("_", space), "gu"),
  closing,
  padded,
  minimum,
});
const restOfLine = (opening: string): RegExp =>
  new RegExp(`${opening.replaceAll("_", space)}${space}([^\\n]+)`, "gu");

const boxed = wrapper(String.raw`\\boxed\{`, "}");
const angles = wrapper("<<", ">>");

/** `_` stands for white space. */
const formats: Record<string, Wrapper | RegExp> = {
  fmt_00: wrapper(String.raw`\(\(`, "))", false, 0),
  fmt_01: wrapper(String.raw`\(Answer:`, ")", true),
  fmt_02: wrapper(String.raw`Final answer:_\(`, ")"),
  fmt_03: wrapper(String.raw`Answer is_\[`, "]"),
  fmt_04: wrapper(String.raw`\[Answer:`, "]", true),
  fmt_05: wrapper(String.raw`\[\[`, "]]"),
  fmt_06: wrapper(String.raw`Correct Answer:_\[`, "]"),
  fmt_07: boxed,
  fmt_08: boxed,
  fmt_09: wrapper(String.raw`\{\{`, "}}"),
  fmt_10: wrapper(String.raw`Answer Value:_\{`, "}"),
  fmt_11: angles,
  fmt_12: angles,
  fmt_13: wrapper("<", ">"),
  fmt_14: wrapper("<Answer:", ">", true),
  fmt_15: wrapper("<final\\u005fanswer>", "</final_answer>", true),
  fmt_16: wrapper(String.raw`Final Answer:_\|\|`, "||"),
  fmt_17: wrapper(String.raw`The answer is:_\|`, "|"),
  fmt_18: wrapper(String.raw`\*\*Answer:`, "**", true),
  fmt_19: wrapper(String.raw`\*\*Final answer is:`, "**", true),
  fmt_20: wrapper(String.raw`Answer:_\*`, "*"),
  fmt_21: wrapper("## Answer:", "##", true),
  fmt_22: restOfLine("ANSWER IS"),
  fmt_23: restOfLine("Response:"),
  fmt_24: restOfLine("Final Answer_->"),
  fmt_25: restOfLine("Final value is:"),
  fmt_26: restOfLine("Correct Answer >>"),
  fmt_27: restOfLine("Answer Value:"),
  fmt_28: restOfLine("Final Answer_="),
  fmt_29: restOfLine("Correct answer is"),
  fmt_30: restOfLine("Final Answer:"),
};

export const isFormat = (name: string): boolean => Object.hasOwn(formats, name);

/** The last answer in a named format, without the white space around it. */
export function captureFormat(text: string, name: string): string | undefined {
  const format = formats[name];
  if (format instanceof RegExp) {
    const last = [...text.matchAll(format)].at(-1)?.[1];
    return last === undefined ? undefined : strip(last);
  }
  return format && lastBetween(text, format);
}

/** The last match of a pattern of the row, which has one group. */
export function capturePattern(text: string, pattern: string): string | undefined {
  const last = compilePyRegex(pattern, { dotAll: true }).findall(text).at(-1);
  return last === undefined ? undefined : strip(last);
}

/** As the last match of `opening\s*(.+?)closing`, in linear time. */
function lastBetween(text: string, { opening, closing, padded, minimum }: Wrapper): string | undefined {
  let found: string | undefined;
  opening.lastIndex = 0;
  while (opening.test(text)) {
    let start = opening.lastIndex;
    let isPadded = false;
    if (padded) {
      whitespace.lastIndex = start;
      whitespace.test(text);
      isPadded = whitespace.lastIndex > start;
      start = whitespace.lastIndex;
    }
    let end = text.indexOf(closing, start + minimum);
    // With nothing else between the marks, the white space is the answer.
    if (end < 0 && isPadded && text.startsWith(closing, start)) end = start;
    // Later openings have no closing mark either.
    if (end < 0) break;
    found = strip(text.slice(start, end));
    opening.lastIndex = end + closing.length;
  }
  return found;
}
