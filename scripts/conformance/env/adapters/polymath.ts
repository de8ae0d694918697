import type { Adapter } from "../adapters.ts";

export const adapter: Adapter = {
  // The config of this server disables the judge.
  config: () => ({ should_use_judge: false }),
  ignore: ["extracted_answer"],
};
