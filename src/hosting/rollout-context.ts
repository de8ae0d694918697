import { AsyncLocalStorage } from "node:async_hooks";
import { idInRow, isRolloutId } from "../wire/rollout-id.ts";
import type { Handler, RouteCall } from "./app.ts";

/** Routes whose bodies are rows: they name the rollout of a request whose path does not. */
const ROW_ROUTES = new Set(["/run", "/verify"]);

/** Knows the rollout of the running code. Used in observed runs only, because AsyncLocalStorage costs time. */
export class RolloutContext {
  readonly #storage = new AsyncLocalStorage<string>();

  get current(): string | undefined {
    return this.#storage.getStore();
  }

  /** Runs a handler on behalf of the rollout its request names. */
  serve(handler: Handler, call: RouteCall): ReturnType<Handler> {
    const id = call.rolloutId ?? (ROW_ROUTES.has(call.path) ? idInRow(call.body) : undefined);
    return id === undefined || !isRolloutId(id) ? handler(call) : this.#storage.run(id, handler, call);
  }
}
