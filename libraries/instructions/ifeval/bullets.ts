import { isSpaceCode } from "nemo-gym/python";

/** The end of the line that contains `at`. */
function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Counts the lines that start with a bullet after optional white space (including empty lines). Reads each character once. */
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
      // A bullet whose text is the line break ends where the next line starts.
      if (end === after && text[end - 1] === "\n") {
        at = end;
        continue;
      }
    }
    at = end + 1;
  }
  return count;
}

/** Counts lines that start with one `*`, and lines that start with `-`. */
export function countBullets(text: string): number {
  const stars = countLines(text, (at) =>
    text[at] === "*" && at + 1 < text.length && text[at + 1] !== "*" ? at + 2 : -1,
  );
  return stars + countLines(text, (at) => (text[at] === "-" ? at + 1 : -1));
}
