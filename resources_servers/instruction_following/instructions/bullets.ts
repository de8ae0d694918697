import { isSpaceCode } from "nemo-gym/python";

/** Where the line that holds `at` ends. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Counts the lines that begin with a bullet, white space (also empty lines) before it; each character is looked at once. */
function countLines(text: string, bulletEnd: (at: number) => number): number {
  let count = 0;
  let at = 0;
  while (at < text.length) {
    let first = at;
    while (first < text.length && isSpaceCode(text.charCodeAt(first))) first++;
    if (first === text.length) break;
    const after = bulletEnd(first);
    let end = lineEnd(text, first);
    if (after >= 0) {
      count++;
      end = lineEnd(text, after);
      // A bullet that took the line break for its text ends where the next line starts.
      if (end === after && text[end - 1] === "\n") {
        at = end;
        continue;
      }
    }
    at = end + 1;
  }
  return count;
}

/** Lines that begin with one `*`, and lines that begin with `-`. */
export function countBullets(text: string): number {
  const stars = countLines(text, (at) =>
    text[at] === "*" && at + 1 < text.length && text[at + 1] !== "*" ? at + 2 : -1,
  );
  return stars + countLines(text, (at) => (text[at] === "-" ? at + 1 : -1));
}
