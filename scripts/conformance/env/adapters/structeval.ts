import type { Adapter } from "../adapters.ts";

export const adapter: Adapter = { unlisted: ["error_message"] };
