import type { Adapter } from "../adapters.ts";

// Fixtures omit the keys, which verification does not need.
export const adapter: Adapter = { config: () => ({ google_api_key: "unused", google_cx: "unused" }) };
