/** The highlight name of the characters in the address. */
const LINKED = "linked";

/** The selection in an element, as `FROM-TO` in characters of its text; undefined without a selection. */
export function selectedChars(element: Element): string | undefined {
  const selection = document.getSelection();
  if (selection === null || selection.isCollapsed) return undefined;
  const range = selection.getRangeAt(0);
  if (!element.contains(range.commonAncestorContainer)) return undefined;
  const before = document.createRange();
  before.selectNodeContents(element);
  before.setEnd(range.startContainer, range.startOffset);
  const from = before.toString().length;
  return `${from}-${from + range.toString().length}`;
}

/**
 * Highlights the characters `FROM-TO` of an element; returns the element that they begin in, undefined if they do not
 * exist.
 */
export function markChars(element: Element, chars: string): Element | undefined {
  const [, from, to] = /^(\d{1,9})-(\d{1,9})$/.exec(chars) ?? [];
  const range = rangeIn(element, Number(from), Number(to));
  if (range === undefined) return undefined;
  // New elements would interfere with React's rendering.
  CSS.highlights.set(LINKED, new Highlight(range));
  return range.startContainer.parentElement ?? undefined;
}

/** A range of characters in an element's text; undefined if they do not exist. */
export function rangeIn(element: Element, from: number, to: number): Range | undefined {
  const [start, end] = [placeOf(element, from), placeOf(element, to)];
  if (start === undefined || end === undefined) return undefined;
  const range = document.createRange();
  range.setStart(start.node, start.offset);
  range.setEnd(end.node, end.offset);
  return range;
}

export function unmarkChars(): void {
  CSS.highlights.delete(LINKED);
}

function placeOf(element: Element, chars: number): { node: Text; offset: number } | undefined {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let left = chars; walker.nextNode(); ) {
    const node = walker.currentNode as Text;
    if (left <= node.length) return { node, offset: left };
    left -= node.length;
  }
  return undefined;
}
