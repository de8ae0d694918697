import { useEffect, useState } from "react";
import type { ViewerStatus } from "../api-types.ts";
import { api } from "./api-client.ts";

const POLL_MS = 1000;

/** How far the server is with the files; asked again and again, so that a run under way shows its new rows. */
export function useStatus(): { status: ViewerStatus | undefined; error: string | undefined } {
  const [status, setStatus] = useState<ViewerStatus>();
  const [error, setError] = useState<string>();
  useEffect(() => {
    const controller = new AbortController();
    let timer: number | undefined;
    const poll = async () => {
      try {
        if (!document.hidden) {
          const next = await api.status(controller.signal);
          // The same object while nothing changed: nothing is drawn again.
          setStatus((before) => (JSON.stringify(before) === JSON.stringify(next) ? before : next));
          setError(undefined);
        }
      } catch (problem) {
        if (!controller.signal.aborted)
          setError(problem instanceof Error ? problem.message : String(problem));
      }
      if (!controller.signal.aborted) timer = window.setTimeout(poll, POLL_MS);
    };
    void poll();
    return () => {
      controller.abort();
      window.clearTimeout(timer);
    };
  }, []);
  return { status, error };
}
