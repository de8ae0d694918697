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

/** Changes of the address; undefined parameters are removed. */
export interface Change {
  run?: string | null;
  view?: View;
  parameters?: Parameters;
  /** Does not add a history entry. */
  replace?: boolean;
}

export type Go = (change: Change) => void;

/** Parameters of one page that are dropped on another page. */
const OF_A_PAGE = ["set", "by", "change", "match", "runs", "panes", "name", "hide", "with", "base"] as const;

/** Parameters of a position in a rollout. */
const OF_A_PLACE = ["item", "turn", "chars"] as const;

function namesPlace({ view, parameters }: Change): boolean {
  return view !== undefined || OF_A_PLACE.some((key) => parameters?.[key]);
}

/** The address after a change. */
export function addressOf(change: Change): string {
  const current = parseRoute(window.location.hash);
  const parameters: Parameters = change.run === undefined ? { ...current.parameters } : {};
  if (change.view && change.view.name !== current.view.name) {
    for (const key of OF_A_PAGE) delete parameters[key];
    // The grid has a separate order; list and rollouts share theirs.
    if (change.view.name === "tasks" || current.view.name === "tasks") delete parameters.order;
  }
  if (namesPlace(change)) for (const key of OF_A_PLACE) delete parameters[key];
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
    // The state holds the last reading position, which a new position replaces.
    const state: unknown = namesPlace(change) ? null : window.history.state;
    if (change.replace) window.history.replaceState(state, "", next);
    else window.history.pushState(null, "", next);
    window.dispatchEvent(new PopStateEvent("popstate"));
  }, []);
  return [route, go];
}
