import { type RefObject, useEffect } from "react";

/**
 * Focuses the scrolling element when it exists, so that PageDown, Space and End work without a click. Default: `main`.
 */
export function useScrollFocus(isThere = true, scroller?: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    if (!isThere || document.activeElement?.matches("input, select, textarea, dialog *")) return;
    const element = scroller ? scroller.current : document.getElementById("main");
    element?.focus({ preventScroll: true });
  }, [isThere, scroller]);
}
