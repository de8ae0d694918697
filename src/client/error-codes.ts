import type { ErrorCodeRow } from "../errors.ts";

/** Codes of calls from one server to another. */
export const clientErrorCodes = [
  {
    code: "SERVER_CALL",
    class: "ServerCallError",
    when: "A server or the provider behind it answered with an error, in time or not at all; the message names host and status.",
    fix: "Follow the message: it is that of the first thing that failed.",
  },
  {
    code: "UNKNOWN_SERVER",
    class: "GymError",
    when: "A call names a server that is not part of this run.",
    fix: "Use one of the names listed, or add the server to the config.",
  },
] as const satisfies readonly ErrorCodeRow[];
