import type { Adapter } from "../adapters.ts";

export const adapter: Adapter = {
  // The texts of the messages are ours.
  reduced: ["validation_results"],
};
