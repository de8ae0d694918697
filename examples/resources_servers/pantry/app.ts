import { defineResourcesServer } from "nemo-gym";
import { z } from "zod";
import { type Stock, shareInPlace } from "./score.ts";

const Goods = z.record(z.string(), z.number().int().nonnegative());
const Move = z.object({ item: z.string(), count: z.number().int().positive() });

export default defineResourcesServer({
  config: z.object({ partial_credit: z.boolean().default(false) }),
  row: z.object({ stock: Goods, wanted: Goods }),
  session: ({ row }) => ({ stock: { ...row.stock } as Stock, moves: 0 }),
  tools: {
    list_pantry: {
      description: "What is in the pantry, by name and number.",
      run: ({ session }) => session.stock,
    },
    put: {
      description: "Puts goods into the pantry.",
      input: Move,
      run({ input, session }) {
        session.moves++;
        session.stock[input.item] = (session.stock[input.item] ?? 0) + input.count;
        return { now: session.stock[input.item] };
      },
    },
    take: {
      description: "Takes goods out of the pantry.",
      input: Move,
      run({ input, session }) {
        session.moves++;
        const there = session.stock[input.item] ?? 0;
        if (there < input.count) return { error: `only ${there} of ${input.item}` };
        session.stock[input.item] = there - input.count;
        return { now: session.stock[input.item] };
      },
    },
  },
  verify({ config, row, session }) {
    const share = shareInPlace(session.stock, row.wanted);
    return {
      reward: config.partial_credit ? share : Number(share === 1),
      share_in_place: share,
      moves: session.moves,
      final_stock: session.stock,
    };
  },
  metrics: {
    compute: (tasks) => {
      const solved = tasks.flat().filter((rollout) => rollout["reward"] === 1);
      const moves = solved.map((rollout) => Number(rollout["moves"]));
      return moves.length === 0
        ? {}
        : { moves_when_solved: moves.reduce((sum, count) => sum + count, 0) / moves.length };
    },
  },
});
