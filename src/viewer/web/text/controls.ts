/**
 * Invisible characters and characters that change the order of the text: controls, soft hyphens, joiners, fillers, bidi
 * marks, tags and lone surrogates. They are shown by their code point.
 */
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}\p{Cs}]/u;
const ALL_UNSEEN = new RegExp(UNSEEN, "gu");

/** Splits a text at invisible characters. */
export function visiblePieces(text: string): { text: string; isUnseen: boolean }[] {
  const pieces: { text: string; isUnseen: boolean }[] = [];
  let at = 0;
  for (const { 0: character, index } of text.matchAll(ALL_UNSEEN)) {
    if (index > at) pieces.push({ text: text.slice(at, index), isUnseen: false });
    pieces.push({ text: codeOf(character), isUnseen: true });
    at = index + character.length;
  }
  if (at < text.length || pieces.length === 0) pieces.push({ text: text.slice(at), isUnseen: false });
  return pieces;
}

export function hasUnseen(text: string): boolean {
  return UNSEEN.test(text);
}

/** The same for tooltips and labels, which are plain text. */
export function visibleText(text: string): string {
  return text.replace(ALL_UNSEEN, (character) => `<${codeOf(character)}>`);
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
