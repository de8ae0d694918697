import type { Adapter } from "../adapters.ts";

export const adapter: Adapter = {
  config: (_row, { fixtures }) => ({ dataset: "humaneval", problems_fpath: `${fixtures}/problems.json` }),
};
