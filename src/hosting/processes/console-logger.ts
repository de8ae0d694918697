import type { Logger } from "../../logger.ts";

/** Writes to the process's own output; the parent adds the server's name. */
export function consoleLogger(verbose: boolean): Logger {
  return {
    debug: (message) => verbose && console.error(`debug: ${message}`),
    info: (message) => console.log(message),
    warn: (message) => console.error(`warning: ${message}`),
    error: (message) => console.error(`error: ${message}`),
  };
}
