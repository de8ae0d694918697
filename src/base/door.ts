/** What every room may use: logging, HTTP guards, errors of servers, processes. */

export { isInstalled, locateProgram } from "./installed-program.ts";
export { type Logger, silentLogger } from "./logger.ts";
export { optionalPackage } from "./optional-package.ts";
export { parseJson } from "./parse-json.ts";
export { printable, printableName } from "./printable.ts";
export { processWide } from "./process-wide.ts";
export { type GuardOptions, isLoopback, jsonRejectionOf, requestRejection } from "./request-guard.ts";
export { HttpError, JudgeError } from "./server-errors.ts";
export { shellQuote } from "./shell-quote.ts";
