/** A notice against manual edits. */
export const GENERATED = "<!-- Written by `npm run docs` from the tables in the code. Do not edit. -->";

/** A table; bars and line breaks in cells are escaped. */
export function markdownTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(headings), `|${" --- |".repeat(headings.length)}`, ...rows.map(line)].join("\n");
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}
