import type { Adapter } from "./adapters.ts";

/** The fixtures leave out the keys, which verifying does not need. */
export const adapter: Adapter = { config: () => ({ google_api_key: "unused", google_cx: "unused" }) };
