import { type RefObject, useEffect } from "react";

/** Gives the focus to what scrolls, once it is there: PageDown, Space and End work without a click. `main` scrolls where no element is named. */
export function useScrollFocus(isThere = true, scroller?: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    if (!isThere || document.activeElement?.matches("input, select, textarea, dialog *")) return;
    const element = scroller ? scroller.current : document.getElementById("main");
    element?.focus({ preventScroll: true });
  }, [isThere, scroller]);
}
