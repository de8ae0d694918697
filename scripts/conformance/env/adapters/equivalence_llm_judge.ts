import type { Adapter } from "../adapters.ts";
import { isObject } from "../rows.ts";

/** Fixtures of equivalence_llm_judge list the parsing issues of all evaluations; without the key there are none. */
export const adapter: Adapter = {
  observe: {
    verdict_issues: ({ judge_evaluations: list }) =>
      Array.isArray(list)
        ? list.map((item) => (isObject(item) && item["judgement_parsing_issues"]) || [])
        : undefined,
  },
};
