import { type KeyboardEvent as ReactKeyboardEvent, type RefObject, useEffect, useRef } from "react";

/** Calls the action of a key (lower case), unless the user is typing. */
export function useKeys(actions: Readonly<Record<string, (() => void) | undefined>>): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target instanceof HTMLElement ? event.target : undefined;
      const typing = target?.matches("input, select, textarea") ?? false;
      if (typing) {
        if (event.key !== "Escape") return;
        // Browsers clear a search field on this key; the list would lose its filter when the user only wants to leave
        // the field.
        if (target?.matches("input")) event.preventDefault();
        target?.blur();
        return;
      }
      if (target?.closest("dialog")) return;
      const key = event.key.toLowerCase();
      const action = Object.hasOwn(latest.current, key) ? latest.current[key] : undefined;
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, []);
}

/** Moves between the controls of a toolbar, which is one Tab stop, with arrow keys, Home and End. */
export function moveInToolbar(event: ReactKeyboardEvent<HTMLElement>): void {
  const controls = [...event.currentTarget.querySelectorAll<HTMLElement>("button, a[href]")];
  const at = controls.findIndex((control) => control.matches(":focus"));
  const next = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: controls.length - 1 }[event.key];
  if (next === undefined || at === -1) return;
  event.preventDefault();
  controls[next]?.focus();
}

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

/** Hides the focus ring until a key is pressed. */
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
