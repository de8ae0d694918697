import type { Terminal } from "./terminal.ts";
import { padEnd, textWidth, wrapText } from "./text-width.ts";

/** Names up to this width share a column; a longer name has a line of its own. */
const NAME_COLUMN = 26;
const INDENT = "  ";

export interface GroupItem {
  readonly name: string;
  readonly text: string;
  /** Added to the text in brackets. */
  readonly note?: string;
}

export interface ItemGroup {
  readonly heading: string;
  readonly items: readonly GroupItem[];
}

/** Names with their texts in groups under headings, at most as wide as the terminal. */
export function renderGroups(title: string, groups: readonly ItemGroup[], terminal: Terminal): string {
  const names = groups.flatMap(({ items }) => items.map(({ name }) => textWidth(name)));
  const column = Math.min(NAME_COLUMN, Math.max(...names, 0));
  return [
    ...wrapText(title, terminal.width).map(terminal.bold),
    ...groups.flatMap(({ heading, items }) => [
      "",
      terminal.bold(heading),
      ...items.flatMap((item) => renderItem(item, column, terminal)),
    ]),
  ].join("\n");
}

function renderItem({ name, text, note }: GroupItem, column: number, { width, cyan }: Terminal): string[] {
  const margin = `${INDENT}${" ".repeat(column)}${INDENT}`;
  const described = [text, note === undefined ? "" : `[${note}]`].filter(Boolean).join(" ");
  const [first = "", ...rest] = wrapText(described, Math.max(width - margin.length, column));
  const lines = rest.map((line) => margin + line);
  if (textWidth(name) <= column)
    return [`${INDENT}${cyan(padEnd(name, column))}${INDENT}${first}`.trimEnd(), ...lines];
  const parts = wrapText(name, width - INDENT.length).map((part) => INDENT + cyan(part));
  return first === "" ? parts : [...parts, margin + first, ...lines];
}
