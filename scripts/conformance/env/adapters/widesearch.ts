import type { Adapter } from "../adapters.ts";
import { isObject } from "../rows.ts";
import { runVerifyCase } from "../verify-case.ts";

/** The fixtures give prompts as plain texts; prompt files have them under `user`. */
export const adapter: Adapter = {
  caseOf: (row, environment) => () => {
    const prompts = row.config?.["judge_prompts"];
    const files = Object.entries(isObject(prompts) ? prompts : {}).map(([name, user]) => [name, { user }]);
    const config = { ...row.config, judge_prompts: Object.fromEntries(files) };
    return runVerifyCase({ ...row, config }, environment);
  },
};
