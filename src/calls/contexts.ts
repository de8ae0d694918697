import { AsyncResource } from "node:async_hooks";

let areKept = false;

/** From now on whoever is told later that its time is up is told in the async context it began in. It has a price: observed runs ask for it. */
export function keepContexts(): void {
  areKept = true;
}

/** The context of the running code, where anybody asked for it. */
export function keptContext(name: string): AsyncResource | undefined {
  return areKept ? new AsyncResource(name) : undefined;
}
