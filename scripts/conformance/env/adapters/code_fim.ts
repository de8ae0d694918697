import { removeOverlap } from "../../../../resources_servers/code_fim/overlap.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";

/** Also cases of one function: the overlap of two texts is removed. */
export const adapter: Adapter = {
  config: (_row, { fixtures }) => ({ problems_fpath: `${fixtures}/problems.json` }),
  firstWord: ["status"],
  caseOf({ kind, preceding, following, truncate_from, expected }) {
    if (kind !== "remove_overlap") return undefined;
    const from = truncate_from === "following" ? "following" : "preceding";
    return () =>
      difference(removeOverlap(String(preceding), String(following), from), expected["result"], "result");
  },
};
