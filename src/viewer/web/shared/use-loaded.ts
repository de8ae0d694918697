import { useEffect, useRef, useState } from "react";
import { errorMessage } from "../../../base/errors.ts";

export interface Loaded<T> {
  /** The last value; kept while a newer one is loading. */
  value: T | undefined;
  /** The key `value` was loaded for. */
  key: string | undefined;
  error: string | undefined;
}

/**
 * Loads a value whenever its key changes; an older request never overwrites a newer one. Without a key, nothing is
 * loaded.
 */
export function useLoaded<T>(key: string | undefined, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<Loaded<T>>({ value: undefined, key: undefined, error: undefined });
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (key === undefined) return;
    const controller = new AbortController();
    latest.current(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setState({ value, key, error: undefined });
      },
      (error: unknown) => {
        if (controller.signal.aborted) return;
        const message = errorMessage(error);
        setState((before) => ({ ...before, key, error: message }));
      },
    );
    return () => controller.abort();
  }, [key]);
  return state;
}
