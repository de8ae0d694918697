import type { Adapter } from "../adapters.ts";

// Fixtures omit times and tracebacks.
export const adapter: Adapter = { reduced: ["metadata"] };
