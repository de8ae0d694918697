import { abortSignalOf, type StopSignal } from "../calls/stop-signal.ts";

/**
 * One descriptor for all scopes. A getter written into each scope would be a function of its own, and with it a shape of its own:
 * shapes live among the long-lived objects, and would keep everything a finished call has held until those are collected.
 */
const SIGNAL: PropertyDescriptor = {
  get(this: { stop: StopSignal }): AbortSignal {
    return abortSignalOf(this.stop);
  },
  enumerable: true,
  configurable: true,
};

/** Gives what a handler gets its `signal`, which is made when somebody asks for it; a copy of the scope asks. */
export function withSignal<Scope extends { readonly stop: StopSignal }>(
  scope: Scope,
): Scope & { readonly signal: AbortSignal } {
  return Object.defineProperty(scope, "signal", SIGNAL) as Scope & { readonly signal: AbortSignal };
}
