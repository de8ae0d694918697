import type { Dialect } from "../openai/stream-outcome.ts";
import type { Handler } from "./app.ts";
import type { ServerContext } from "./context.ts";

/** Wraps the routes of a model server so that calls of observed rollouts are recorded; without capture it does nothing. */
export function modelCallCapture(
  _server: ServerContext<unknown>,
): (dialect: Dialect, handler: Handler) => Handler {
  return (_dialect, handler) => handler;
}
