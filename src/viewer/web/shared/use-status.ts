import { useEffect, useState } from "react";
import { errorMessage } from "../../../base/errors.ts";
import type { ViewerStatus } from "../../api-types.ts";
import { api } from "./api-client.ts";

const POLL_MS = 5_000;
/** Polling interval while a file is being read. */
const READING_MS = 400;

/** The state of a run's files; asks again when the server reports a change. */
export function useStatus(run: string | null | undefined): {
  status: ViewerStatus | undefined;
  error: string | undefined;
} {
  const [state, setState] = useState<{
    run: typeof run;
    status: ViewerStatus | undefined;
    error: string | undefined;
  }>({
    run,
    status: undefined,
    error: undefined,
  });
  useEffect(() => {
    if (run === undefined) return;
    const controller = new AbortController();
    let timer: number | undefined;
    const poll = async () => {
      window.clearTimeout(timer);
      let pause = POLL_MS;
      try {
        const status = await api.status(run, controller.signal);
        if (status.indexing) pause = READING_MS;
        // Keeps the same object while nothing changed, so that nothing is rendered again.
        setState((before) =>
          before.run === run &&
          before.error === undefined &&
          JSON.stringify(before.status) === JSON.stringify(status)
            ? before
            : { run, status, error: undefined },
        );
      } catch (problem) {
        if (controller.signal.aborted) return;
        const error = errorMessage(problem);
        setState((before) => ({ run, status: before.run === run ? before.status : undefined, error }));
        pause = 1000;
      }
      if (!controller.signal.aborted) timer = window.setTimeout(poll, pause);
    };
    const end = api.watch(run, () => void poll());
    void poll();
    return () => {
      end();
      controller.abort();
      window.clearTimeout(timer);
    };
  }, [run]);
  return state.run === run ? state : { status: undefined, error: undefined };
}

/**
 * Changes with the figures over all rows. While a file is being read it changes only four times, because computing
 * figures delays the reading.
 */
export function figuresVersion({ run, indexing, rollouts, version, annotated }: ViewerStatus): string {
  const read = Math.floor((4 * rollouts.indexed_bytes) / Math.max(1, rollouts.bytes));
  return indexing ? `reading ${read}` : `${version}:${annotated}:${run.state}`;
}
