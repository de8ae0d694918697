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
export function commonLength(texts: readonly string[]): number {
  const [first = "", ...others] = texts;
  let length = 0;
  while (length < first.length && others.every((text) => text[length] === first[length])) length++;
  return length;
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
