/**
 * The text behind `|`, as it is written, from `start` up to the first line that does not belong to it; undefined when it
 * is not plain.
 */
export function readBlockText(
  text: string,
  start: number,
  keyColumn: number,
  keepsBreak: boolean,
): { readonly text: string; readonly end: number } | undefined {
  const lines: string[] = [];
  let indent = -1;
  let end = start;
  while (end < text.length) {
    const lineBreak = text.indexOf("\n", end);
    const lineEnd = lineBreak < 0 ? text.length : lineBreak;
    const line = text.slice(end, lineEnd);
    if (line !== "") {
      const blanks = line.length - line.trimStart().length;
      const isBlank = blanks === line.length;
      if (blanks <= keyColumn && !isBlank) break;
      if (indent < 0) indent = blanks;
      // Lines of blanks, and lines that stand out to the left, have rules of their own.
      if (blanks < indent || isBlank) return undefined;
    }
    lines.push(line.slice(Math.max(indent, 0)));
    end = lineEnd + 1;
  }
  while (lines.at(-1) === "") lines.pop();
  if (lines.length === 0) return undefined;
  return { text: lines.join("\n") + (keepsBreak ? "\n" : ""), end };
}
