import { type RefObject, useEffect } from "react";

/**
 * Focuses the scrolling element when it exists, so that PageDown, Space and End work without a click. Default: `main`.
 */
export function useScrollFocus(isThere = true, scroller?: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    if (!isThere || document.activeElement?.matches("input, select, textarea, dialog *")) return;
    const element = scroller ? scroller.current : document.getElementById("main");
    if (element) focusQuietly(element);
  }, [isThere, scroller]);
}

/** Without the ring of the focus, which belongs to keys, until a key is pressed there. */
function focusQuietly(element: HTMLElement): void {
  element.dataset["quiet"] = "";
  const end = new AbortController();
  const showRing = () => {
    delete element.dataset["quiet"];
    end.abort();
  };
  for (const event of ["keydown", "blur"]) element.addEventListener(event, showRing, { signal: end.signal });
  element.focus({ preventScroll: true });
}
