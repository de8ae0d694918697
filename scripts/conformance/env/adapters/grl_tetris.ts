import type { Adapter } from "../adapters.ts";

/** Rows bring their own pieces, because those of the original depend on the state of its process. */
export const adapter: Adapter = {
  definition(module, row) {
    const { defineTetris } = module;
    if (typeof defineTetris !== "function")
      throw new Error("resources_servers/grl_tetris/app must export defineTetris(pieces)");
    const given = Array.isArray(row["pieces"]) ? row["pieces"] : undefined;
    if (!given) return module["default"];
    return defineTetris(() => given.map(([anchor, shape]) => ({ anchor, shape })));
  },
};
