import { useCallback, useMemo, useSyncExternalStore } from "react";
import { formatRoute, type Parameters, parseRoute, type Route, type View } from "./route.ts";

function subscribe(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  window.addEventListener("popstate", changed);
  return () => {
    window.removeEventListener("hashchange", changed);
    window.removeEventListener("popstate", changed);
  };
}

/** What changes in the address; parameters that are undefined are taken out. */
export interface Change {
  run?: string | null;
  view?: View;
  parameters?: { [Key in keyof Parameters]?: string | undefined };
  /** Leave no step to go back to. */
  replace?: boolean;
}

export type Go = (change: Change) => void;

/** Parameters that belong to one page and do not go along to another. */
const OF_A_PAGE = ["item", "chars", "set", "by", "change", "match", "runs", "panes", "name", "hide"] as const;

/** The address a change leads to. */
export function addressOf(change: Change): string {
  const current = parseRoute(window.location.hash);
  const parameters: Parameters = change.run === undefined ? { ...current.parameters } : {};
  if (change.view && change.view.name !== current.view.name)
    for (const key of OF_A_PAGE) delete parameters[key];
  if (change.view) delete parameters.item;
  if (change.view || change.parameters?.item) delete parameters.chars;
  for (const [key, value] of Object.entries(change.parameters ?? {})) {
    if (value) parameters[key as keyof Parameters] = value;
    else delete parameters[key as keyof Parameters];
  }
  const next: Route = {
    run: change.run === undefined ? current.run : change.run,
    view: change.view ?? current.view,
    parameters,
  };
  return formatRoute(next);
}

/** The route in the address bar, and how to change it. */
export function useRoute(): [Route, Go] {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  const route = useMemo(() => parseRoute(hash), [hash]);
  const go = useCallback((change: Change) => {
    const next = addressOf(change);
    if (next === window.location.hash) return;
    if (change.replace) window.history.replaceState(window.history.state, "", next);
    else window.history.pushState(null, "", next);
    window.dispatchEvent(new PopStateEvent("popstate"));
  }, []);
  return [route, go];
}
