import type { Adapter } from "./adapters.ts";

/** Fixtures leave times and tracebacks out. */
export const adapter: Adapter = { reduced: ["metadata"] };
