/** Characters that nobody sees, or that turn the order of the text around: they are shown by their number. */
const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/;

/** Splits a text at characters that nobody sees. */
export function visiblePieces(text: string): { text: string; isUnseen: boolean }[] {
  if (!UNSEEN.test(text)) return [{ text, isUnseen: false }];
  const pieces: { text: string; isUnseen: boolean }[] = [];
  let rest = text;
  for (let match = UNSEEN.exec(rest); match !== null; match = UNSEEN.exec(rest)) {
    if (match.index > 0) pieces.push({ text: rest.slice(0, match.index), isUnseen: false });
    const code = (match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    pieces.push({ text: `U+${code}`, isUnseen: true });
    rest = rest.slice(match.index + match[0].length);
  }
  if (rest !== "") pieces.push({ text: rest, isUnseen: false });
  return pieces;
}
