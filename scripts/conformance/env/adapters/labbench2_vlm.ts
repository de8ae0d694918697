import type { Adapter } from "../adapters.ts";

export const adapter: Adapter = {
  config: ({ config }) => {
    const text = config?.["judge_prompt_text"];
    return { first_verdict_counts: true, ...(text !== undefined && { judge_prompt_template_text: text }) };
  },
};
