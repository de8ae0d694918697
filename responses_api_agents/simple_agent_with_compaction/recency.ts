import type { ResponseInputItem } from "nemo-gym/openai";
import type { ContextHistorySettings } from "./config.ts";

type RecencyConfig = ContextHistorySettings["policy"]["config"];

/** A shortened conversation, and what it lacks. */
export interface View {
  items: ResponseInputItem[];
  omitted: { turns: number; images: number; reasoning: number };
}

/**
 * Leaves out what is old. `starts` are the positions at which turns begin; what precedes the first is the row's own input.
 */
export function recentView(
  conversation: readonly ResponseInputItem[],
  starts: readonly number[],
  { images, reasoning, turns }: RecencyConfig,
): View {
  const initial = starts[0] ?? conversation.length;
  const gone = turns.enabled ? Math.max(0, starts.length - turns.keep_last_turns) : 0;
  const from = gone > 0 ? (starts[gone] ?? conversation.length) : initial;
  const turnOf = (index: number) => starts.findLastIndex((start) => start <= index);
  const withReasoning = [
    ...new Set(conversation.flatMap((item, index) => (item.type === "reasoning" ? [turnOf(index)] : []))),
  ];
  const keptReasoning = new Set([
    ...withReasoning.slice(0, reasoning.keep_first_block ? 1 : 0),
    ...withReasoning.slice(Math.max(0, withReasoning.length - reasoning.keep_last_blocks)),
  ]);
  const imageGroups = conversation.flatMap((item, index) =>
    imagesIn(item) > 0 && !(images.protect_initial_context && index < initial) ? [index] : [],
  );
  const goneImages = new Set(
    images.enabled ? imageGroups.slice(0, Math.max(0, imageGroups.length - images.keep_last_groups)) : [],
  );
  const omitted = { turns: gone, images: 0, reasoning: 0 };
  const items = conversation.flatMap((item, index): ResponseInputItem[] => {
    if (index >= initial && index < from) return [];
    if (item.type === "reasoning" && reasoning.enabled && !keptReasoning.has(turnOf(index))) {
      omitted.reasoning++;
      return [];
    }
    if (!goneImages.has(index)) return [item];
    omitted.images += imagesIn(item);
    return [withoutImages(item, images.omission_marker)];
  });
  if (gone > 0) {
    const content = turns.omission_marker.replaceAll("{count}", String(gone));
    items.splice(initial, 0, { type: "message", role: "user", content });
  }
  return { items, omitted };
}

type Part = { type?: unknown };

function partsOf(item: ResponseInputItem): readonly Part[] {
  const { content, output } = item as { content?: unknown; output?: unknown };
  if (Array.isArray(content)) return content;
  return Array.isArray(output) ? output : [];
}

export function imagesIn(item: ResponseInputItem): number {
  return partsOf(item).filter(({ type }) => type === "input_image").length;
}

function withoutImages(item: ResponseInputItem, marker: string): ResponseInputItem {
  const parts = partsOf(item).map((part) =>
    part.type === "input_image" ? { type: "input_text", text: marker } : part,
  );
  const key = Array.isArray((item as { content?: unknown }).content) ? "content" : "output";
  return { ...item, [key]: parts } as ResponseInputItem;
}
