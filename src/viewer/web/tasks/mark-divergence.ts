import { rangeIn } from "../rollout/text-range.ts";
import { commonLength } from "./align.ts";

/** The highlight name of the first difference between repeats. */
const DIVERGES = "diverges";
const LONGEST_WORD = 40;

/**
 * Highlights the first different word in the items that differ first; returns a function that removes the highlights.
 */
export function markDivergence(panes: Element | null): () => void {
  const items = [...(panes?.querySelectorAll(".item.diverges") ?? [])];
  // The names of the tools differ, or the arguments and texts, or only the outputs.
  for (const part of [".item-toggle bdi", ".item-body", ".item-output"]) {
    const elements = items.flatMap((item) => item.querySelector(part) ?? []);
    const texts = elements.map((element) => element.textContent ?? "");
    const from = commonLength(texts);
    if (texts.every((text) => text.length === from)) continue;
    const ranges = elements.flatMap((element, place) => {
      const word = /^\s*\S*/.exec((texts[place] ?? "").slice(from, from + LONGEST_WORD))?.[0] ?? "";
      return word === "" ? [] : (rangeIn(element, from, from + word.length) ?? []);
    });
    CSS.highlights.set(DIVERGES, new Highlight(...ranges));
    break;
  }
  return () => CSS.highlights.delete(DIVERGES);
}
