import type { ConversationItem } from "../../conversation/conversation.ts";

/** The items of each turn; turn 0 is the input. */
export function turnsOf(items: readonly ConversationItem[]): ConversationItem[][] {
  const turns: ConversationItem[][] = [[]];
  for (const item of items) {
    const turn = item.from === "input" ? 0 : item.turn;
    while (turns.length <= turn) turns.push([]);
    turns[turn]?.push(item);
  }
  return turns;
}

/** A place where a conversation differs from the base: the turn, the index of the item in it, and the columns that differ. */
export interface Difference {
  turn: number;
  item: number;
  columns: number[];
}

/** All places where conversations differ from the one in the column `base`, in order. */
export function differencesFrom(
  turns: readonly (readonly ConversationItem[][])[],
  base: number,
): Difference[] {
  return turns.flatMap((cells, turn) => {
    const length = Math.max(...cells.map((items) => items.length));
    return Array.from({ length }, (_, item): Difference => {
      const expected = contentOf(cells[base]?.[item]);
      const columns = [...cells.keys()].filter((column) => contentOf(cells[column]?.[item]) !== expected);
      return { turn, item, columns };
    }).filter(({ columns }) => columns.length > 0);
  });
}

/** Where a tool call differs from that of the base, apart from its output. */
export function firstDifferentCall(
  turns: readonly (readonly ConversationItem[][])[],
  base: number,
  differences: readonly Difference[],
): Difference | undefined {
  return differences.find(({ turn, item, columns }) => {
    const cells = turns[turn] ?? [];
    const own = callOf(cells[base]?.[item]);
    return columns.some((column) => callOf(cells[column]?.[item]) !== own);
  });
}

function callOf(item: ConversationItem | undefined): string | undefined {
  return item?.kind === "call" ? JSON.stringify([item.title, textsOf(item)]) : undefined;
}

/** The last answer of each column. */
export function answersOf(
  turns: readonly (readonly ConversationItem[][])[],
): (ConversationItem | undefined)[] {
  const width = turns[0]?.length ?? 0;
  return Array.from({ length: width }, (_, column) =>
    turns
      .flatMap((cells) => cells[column] ?? [])
      .findLast(({ kind, from }) => kind === "assistant" && from === "output"),
  );
}

export function textsOf(item: ConversationItem): string {
  return item.parts.map((part) => ("text" in part ? part.text : "")).join("\n");
}

/** Length of the common prefix of all texts. */
function commonLength(texts: readonly string[]): number {
  const [first = "", ...others] = texts;
  let length = 0;
  while (length < first.length && others.every((text) => text[length] === first[length])) length++;
  return length;
}

/** A part of a text: its first character, and the one after its last. */
export interface TextSpan {
  start: number;
  end: number;
}

const words = new Intl.Segmenter(undefined, { granularity: "word" });
/** Enough of the text around a difference to contain its word. */
const SURROUNDINGS = 1000;

/** The first word in which the texts differ, in each of them. A word that is longer in one text differs as a whole. */
export function differingWords(texts: readonly string[]): TextSpan[] {
  const from = commonLength(texts);
  const start = Math.min(...texts.map((text) => wordAt(text, from).start));
  return texts.map((text) => {
    const word = wordAt(text, start);
    const isBlank = text.slice(start, word.end).trim() === "";
    return { start, end: isBlank ? wordAt(text, word.end).end : word.end };
  });
}

/** The word, the punctuation mark or the space at a place of a text; an empty span at its end. */
function wordAt(text: string, place: number): TextSpan {
  const first = Math.max(0, place - SURROUNDINGS);
  const found = words.segment(text.slice(first, place + SURROUNDINGS)).containing(place - first);
  if (found === undefined) return { start: place, end: place };
  const start = first + found.index;
  return { start, end: start + found.segment.length };
}

/** The content of an item without ids and tokens. */
function contentOf(item: ConversationItem | undefined): string {
  return JSON.stringify(
    item && [
      item.kind,
      item.title,
      item.parts.map((part) => ("text" in part ? part.text : "url" in part ? part.url : "")),
      item.output?.parts.map((part) => ("text" in part ? part.text : "")),
    ],
  );
}
