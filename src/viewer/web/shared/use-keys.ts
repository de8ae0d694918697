import { useEffect, useRef } from "react";

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
