import type { ServerContext } from "../calls/server-context.ts";

/**
 * State that belongs to one running server instance (a loaded prompt, a judge): created on first use and released with the
 * instance. Two instances of one definition never share it.
 *
 * @example
 * const judgeOf = perServer((server: ServerContext<Config>) => createJudge(server, server.config));
 * // in verify: const reply = await judgeOf(server).ask(prompt, { signal });
 */
export function perServer<Config, State>(
  make: (server: ServerContext<Config>) => State,
): (server: ServerContext<Config>) => State {
  const states = new WeakMap<ServerContext<Config>, State>();
  return (server) => {
    let state = states.get(server);
    if (state === undefined && !states.has(server)) {
      state = make(server);
      states.set(server, state);
    }
    return state as State;
  };
}
