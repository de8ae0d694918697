import type { Adapter } from "../adapters.ts";

export const adapter: Adapter = {
  config: () => ({ always_decode_escapes: true }),
  unlisted: ["error_message"],
};
