import { removeOverlap } from "../../../resources_servers/code_fim/overlap.ts";
import type { Adapter } from "./adapters.ts";
import { difference } from "./compare.ts";

/** Also cases of one function: the overlap of two texts is removed. */
export const adapter: Adapter = {
  config: (_row, { fixtures }) => ({ problems_fpath: `${fixtures}/problems.json` }),
  firstWord: ["status"],
  run({ kind, preceding, following, truncate_from, expected }) {
    if (kind !== "remove_overlap") return undefined;
    const from = truncate_from === "following" ? "following" : "preceding";
    const result = removeOverlap(String(preceding), String(following), from);
    const error = difference(result, expected["result"], "result", { tolerance: 0 });
    return Promise.resolve(error === undefined ? {} : { error });
  },
};
