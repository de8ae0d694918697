import { useSyncExternalStore } from "react";

const WIDE = "(min-width: 901px)";

/** Whether the window has room for a table, or for two panes. */
export function useIsWide(): boolean {
  return useSyncExternalStore(subscribe, () => window.matchMedia(WIDE).matches);
}

function subscribe(changed: () => void): () => void {
  const query = window.matchMedia(WIDE);
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
}
