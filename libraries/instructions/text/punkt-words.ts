import { isSpaceCode } from "nemo-gym/python";

/** Characters that are separate tokens in front of a word. */
const NO_WORD_START = new Set('("`{[:;&#*@)}]-,');
/** Characters that end a word. */
const NON_WORD = new Set(")\";}]*:@'({[?!\u2018\u2019\u201c\u201d\u00ab\u00bb");

/** Whether a character cannot be part of a word for Punkt. */
export function isNonWord(character: string | undefined): boolean {
  return character !== undefined && NON_WORD.has(character);
}

/** Length of `--…`, `..…` or `. . .` at this position; 0 otherwise. */
function multiCharacterLength(text: string, at: number): number {
  const character = text[at];
  if (character !== "-" && character !== ".") return 0;
  let end = at;
  while (text[end] === character) end++;
  if (end - at >= 2) return end - at;
  if (character === "-") return 0;
  // At least three dots with one white-space character between them.
  let dots = 1;
  let last = at;
  while (isSpaceAt(text, last + 1) && text[last + 2] === ".") {
    last += 2;
    dots++;
  }
  return dots >= 3 ? last + 1 - at : 0;
}

function isMultiCharacter(text: string, at: number): boolean {
  const character = text[at];
  if (character !== "-" && character !== ".") return false;
  if (text[at + 1] === character) return true;
  return (
    character === "." &&
    isSpaceAt(text, at + 1) &&
    text[at + 2] === "." &&
    isSpaceAt(text, at + 3) &&
    text[at + 4] === "."
  );
}

function isSpaceAt(text: string, at: number): boolean {
  return at < text.length && isSpaceCode(text.charCodeAt(at));
}

function isBreak(text: string, at: number): boolean {
  return at >= text.length || isSpaceAt(text, at) || isNonWord(text[at]) || isMultiCharacter(text, at);
}

/** Splits one line into the words that Punkt uses: periods stay with their word, other punctuation is separate. */
export function punktWords(line: string): string[] {
  const words: string[] = [];
  for (let at = 0; at < line.length; ) {
    if (isSpaceAt(line, at)) {
      at++;
      continue;
    }
    let end = at + multiCharacterLength(line, at);
    if (end === at) {
      end++;
      if (!NO_WORD_START.has(line[at] ?? "")) {
        while (!isBreak(line, end) && !(line[end] === "," && isBreak(line, end + 1))) end++;
      }
    }
    words.push(line.slice(at, end));
    at = end;
  }
  return words;
}
