import { type RefObject, useEffect, useRef } from "react";
import { markChars, unmarkChars } from "./text-range.ts";

/** The position is saved after this time without scrolling. */
const SETTLED_MS = 100;

/**
 * The reading position: the distance of an element of the conversation from the top of the pane; without one, the
 * scroll position.
 */
interface ReadingPlace {
  id: string | undefined;
  offset: number;
}

/**
 * Scrolls to the position in the address, and saves the current position in the browser history, so that going back
 * restores it.
 */
export function useReadingPlace(
  article: RefObject<HTMLElement | null>,
  { id, chars }: { id: string | undefined; chars: string | undefined },
  isCurrent: boolean,
): void {
  const canKeep = useRef(isCurrent);
  canKeep.current = isCurrent;
  const isNew = useRef(true);
  useEffect(() => {
    const pane = article.current?.parentElement;
    const target = id === undefined ? null : document.getElementById(id);
    const text = target?.querySelector(".item-body") ?? target;
    const marked = text && chars ? markChars(text, chars) : undefined;
    const kept = (window.history.state as { place?: ReadingPlace } | null)?.place;
    if (kept && pane) restore(pane, kept);
    else if (marked) settle(() => marked.scrollIntoView({ block: "center" }));
    else if (target) settle(() => target.scrollIntoView({ block: "start" }));
    else if (isNew.current) pane?.scrollTo(0, 0);
    isNew.current = false;
    return unmarkChars;
  }, [article, id, chars]);
  useEffect(() => {
    const pane = article.current?.parentElement;
    if (!pane) return;
    let timer: number | undefined;
    let keptTop = pane.scrollTop;
    const keep = () => {
      window.clearTimeout(timer);
      // While another row is loading, this row is shown under the new address.
      if (!canKeep.current || pane.scrollTop === keptTop) return;
      keptTop = pane.scrollTop;
      window.history.replaceState({ ...(window.history.state as object | null), place: placeIn(pane) }, "");
    };
    const onScroll = () => {
      window.clearTimeout(timer);
      timer = window.setTimeout(keep, SETTLED_MS);
    };
    pane.addEventListener("scroll", onScroll, { passive: true });
    // A key or a click may navigate away immediately.
    for (const type of ["keydown", "click"]) window.addEventListener(type, keep, { capture: true });
    return () => {
      pane.removeEventListener("scroll", onScroll);
      for (const type of ["keydown", "click"]) window.removeEventListener(type, keep, { capture: true });
      window.clearTimeout(timer);
    };
  }, [article]);
}

/** Relative to an element, because elements that were not visible yet have no exact height. */
function placeIn(pane: HTMLElement): ReadingPlace {
  const { top } = pane.getBoundingClientRect();
  let place: ReadingPlace = { id: undefined, offset: pane.scrollTop };
  for (const element of pane.querySelectorAll(".item")) {
    const offset = element.getBoundingClientRect().top - top;
    if (offset > 0) break;
    place = { id: element.id, offset };
  }
  return place;
}

function restore(pane: HTMLElement, { id, offset }: ReadingPlace): void {
  const element = id === undefined ? null : document.getElementById(id);
  if (element === null) pane.scrollTop = id === undefined ? offset : 0;
  else
    settle(() => {
      pane.scrollTop += element.getBoundingClientRect().top - pane.getBoundingClientRect().top - offset;
    });
}

/** Scrolls again in the next frames, unless the user scrolls, because nearby items get their height only then. */
function settle(scroll: () => void): void {
  const own = new AbortController();
  for (const type of ["wheel", "touchmove", "keydown"])
    window.addEventListener(type, () => own.abort(), { signal: own.signal, passive: true });
  const again = (frames: number) => {
    if (own.signal.aborted) return;
    scroll();
    if (frames > 0) requestAnimationFrame(() => again(frames - 1));
    else own.abort();
  };
  again(4);
}
