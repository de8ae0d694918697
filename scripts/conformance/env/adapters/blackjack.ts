import type { Adapter } from "../adapters.ts";

/** Rows bring their own deck: `deals` are the ranks in drawing order. */
export const adapter: Adapter = {
  definition(module, row) {
    const { defineBlackjack } = module;
    if (typeof defineBlackjack !== "function") {
      throw new Error("resources_servers/blackjack/app must export defineBlackjack(draw: () => string)");
    }
    const deals = Array.isArray(row["deals"]) ? row["deals"].map(String) : [];
    let drawn = 0;
    return defineBlackjack(() => {
      const card = deals[drawn++];
      if (card === undefined) throw new Error("the fixture's deck is empty");
      return card;
    });
  },
};
