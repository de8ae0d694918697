import { compilePyRegex, strip } from "nemo-gym/python";

const marker = "\\boxed{";
const capital = /^\p{Uppercase}$/u;
const standaloneCapital = compilePyRegex(String.raw`\b[A-Z]\b`);
const answerLine = compilePyRegex(
  String.raw`(?i)[*_]{0,2}Answer[*_]{0,2}\s*:[\s*_]{0,2}\s*([A-Z])(?![a-zA-Z0-9])`,
);

/** The letter of the last box, else of the last `Answer:` line, in upper case. */
export function findLetter(text: string): string | undefined {
  return (boxedLetter(text) ?? answerLine.findall(text).at(-1))?.toUpperCase();
}

function boxedLetter(text: string): string | undefined {
  const box = lastFlatBox(text);
  if (box === undefined) return undefined;
  const content = strip(box);
  return capital.test(content) ? content : standaloneCapital.findall(content).at(-1);
}

/** A box ends at its first closing brace here, so `\boxed{\text{B}}` contains `\text{B`. */
function lastFlatBox(text: string): string | undefined {
  let box: string | undefined;
  let start = text.indexOf(marker);
  while (start >= 0) {
    const end = text.indexOf("}", start);
    if (end < 0) break;
    box = text.slice(start + marker.length, end);
    start = text.indexOf(marker, end);
  }
  return box;
}
