import type { ConversationItem } from "../../conversation/conversation.ts";

/** The items of each turn; turn 0 is what was there before the model spoke. */
export function turnsOf(items: readonly ConversationItem[]): ConversationItem[][] {
  const turns: ConversationItem[][] = [[]];
  for (const item of items) {
    const turn = item.from === "input" ? 0 : item.turn;
    while (turns.length <= turn) turns.push([]);
    turns[turn]?.push(item);
  }
  return turns;
}

/** The first turn in which the repeats differ; undefined when all are alike. */
export function firstDivergence(turns: readonly (readonly ConversationItem[][])[]): number | undefined {
  const found = turns.findIndex((cells) => new Set(cells.map(contentOf)).size > 1);
  return found === -1 ? undefined : found;
}

/** What was said and done, without ids and tokens. */
function contentOf(items: readonly ConversationItem[]): string {
  return JSON.stringify(
    items.map(({ kind, title, parts, output }) => [
      kind,
      title,
      parts.map((part) => ("text" in part ? part.text : "url" in part ? part.url : "")),
      output?.parts.map((part) => ("text" in part ? part.text : "")),
    ]),
  );
}
