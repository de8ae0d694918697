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

/** The first difference between repeats: the turn, and the index of the item in it. */
export interface Divergence {
  turn: number;
  item: number;
}

/** The first difference between the repeats; undefined when they are equal. */
export function firstDivergence(turns: readonly (readonly ConversationItem[][])[]): Divergence | undefined {
  for (const [turn, cells] of turns.entries()) {
    const length = Math.max(...cells.map((items) => items.length));
    for (let item = 0; item < length; item++)
      if (new Set(cells.map((items) => contentOf(items[item]))).size > 1) return { turn, item };
  }
  return undefined;
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
