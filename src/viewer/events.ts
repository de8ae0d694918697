import type { ServerResponse } from "node:http";
import type { ViewedRun } from "./run/viewed-run.ts";

/** Minimum time between two notifications. */
const LEAST_PAUSE_MS = 200;
const KEEP_ALIVE_MS = 15_000;

/**
 * Notifies a browser of changes in a run with server-sent events without content: the page requests the data that it
 * shows.
 */
export function sendEvents(
  run: ViewedRun,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): void {
  response.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
  });
  let pause: NodeJS.Timeout | undefined;
  let isWaiting = false;
  const notify = () => {
    if (pause) {
      isWaiting = true;
      return;
    }
    response.write(`event: change\ndata: ${run.version}\n\n`);
    pause = setTimeout(() => {
      pause = undefined;
      if (isWaiting) notify();
      isWaiting = false;
    }, LEAST_PAUSE_MS);
    pause.unref();
  };
  const alive = setInterval(() => response.write(": alive\n\n"), KEEP_ALIVE_MS);
  alive.unref();
  const end = run.watch(notify);
  signal.addEventListener("abort", () => {
    end();
    clearInterval(alive);
    clearTimeout(pause);
  });
  notify();
}
