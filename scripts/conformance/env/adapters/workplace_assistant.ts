import type { Adapter } from "../adapters.ts";

// The fixtures use separate databases.
export const adapter: Adapter = {
  config: (_row, { fixtures }) => ({ csv_data_dir: `${fixtures}/csv_data` }),
};
