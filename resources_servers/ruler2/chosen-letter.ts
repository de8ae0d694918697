import { codePointLength, compilePyRegex } from "nemo-gym/python";
import { lastBoxed, latinLetters } from "nemo-gym/verify";

const finalAnswer = compilePyRegex("The final answer is (.+)$", { multiline: true });
const standaloneCapital = compilePyRegex(String.raw`\b[A-Z]\b`);
const answerLine = compilePyRegex(
  String.raw`(?i)[*_]{0,2}Answer[*_]{0,2}\s*:[\s*_]{0,2}\s*([A-Z])(?![a-zA-Z0-9])`,
);

/** The letter after the last `The final answer is`, else of the last box; if that has no letter, of the last `Answer:`. */
export function chosenLetter(text: string): string | undefined {
  const said = finalAnswer.findall(text).at(-1) ?? lastBoxed(text);
  const answer = said === undefined ? "" : latinLetters(said);
  const letter = codePointLength(answer) === 1 ? answer : standaloneCapital.findall(answer).at(-1);
  return (letter ?? answerLine.findall(text).at(-1))?.toUpperCase();
}
