const LOWER_OR_TITLE = /[\p{Lowercase}\p{Lt}]/u;
const UPPER_OR_TITLE = /[\p{Uppercase}\p{Lt}]/u;
const UPPER = /\p{Uppercase}/u;
const LOWER = /\p{Lowercase}/u;

/** `text.isupper()`: at least one letter is upper case, and none is lower or title case. */
export function isUpper(text: string): boolean {
  return UPPER.test(text) && !LOWER_OR_TITLE.test(text);
}

/** `text.islower()`. */
export function isLower(text: string): boolean {
  return LOWER.test(text) && !UPPER_OR_TITLE.test(text);
}

/** Letters that do not fold to the lower case of their upper case: dotless i, capital sharp s and Cherokee. */
const EXCEPTIONS = /[\u0131\u1E9E\u13A0-\u13F5\u13F8-\u13FD\uAB70-\uABBF]/g;

/** Python's `str.casefold()`: the result is equal for texts that differ only in case. */
export function caseFold(text: string): string {
  let folded = "";
  let end = 0;
  for (const match of text.matchAll(EXCEPTIONS)) {
    folded += fold(text.slice(end, match.index)) + foldException(match[0]);
    end = match.index + match[0].length;
  }
  return folded + fold(end === 0 ? text : text.slice(end));
}

function fold(text: string): string {
  return text.toUpperCase().toLowerCase().replaceAll("\u03C2", "\u03C3");
}

function foldException(letter: string): string {
  if (letter === "\u0131") return letter;
  return letter === "\u1E9E" ? "ss" : letter.toUpperCase();
}
