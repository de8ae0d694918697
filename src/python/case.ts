const LOWER_OR_TITLE = /[\p{Lowercase}\p{Lt}]/u;
const UPPER_OR_TITLE = /[\p{Uppercase}\p{Lt}]/u;
const UPPER = /\p{Uppercase}/u;
const LOWER = /\p{Lowercase}/u;

/** `text.isupper()`: at least one letter that has case, and none that is not upper case. */
export function isUpper(text: string): boolean {
  return UPPER.test(text) && !LOWER_OR_TITLE.test(text);
}

/** `text.islower()`. */
export function isLower(text: string): boolean {
  return LOWER.test(text) && !UPPER_OR_TITLE.test(text);
}
