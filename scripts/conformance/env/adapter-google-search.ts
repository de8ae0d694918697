import type { Adapter } from "./adapters.ts";

/** The fixtures omit the keys, which verification does not need. */
export const adapter: Adapter = { config: () => ({ google_api_key: "unused", google_cx: "unused" }) };
