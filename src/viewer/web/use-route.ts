import { useCallback, useMemo, useSyncExternalStore } from "react";
import { formatRoute, parseRoute, type Route } from "./route.ts";

function subscribe(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  window.addEventListener("popstate", changed);
  return () => {
    window.removeEventListener("hashchange", changed);
    window.removeEventListener("popstate", changed);
  };
}

/** The route in the address bar, and how to change it; `replace` leaves no step to go back to. */
export function useRoute(): [Route, (change: Partial<Route>, options?: { replace?: boolean }) => void] {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  const route = useMemo(() => parseRoute(hash), [hash]);
  const go = useCallback((change: Partial<Route>, options: { replace?: boolean } = {}) => {
    const next = formatRoute({ ...parseRoute(window.location.hash), ...change });
    if (next === window.location.hash) return;
    if (options.replace) window.history.replaceState(null, "", next);
    else window.history.pushState(null, "", next);
    window.dispatchEvent(new PopStateEvent("popstate"));
  }, []);
  return [route, go];
}
