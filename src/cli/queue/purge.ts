import { Board } from "../../queue/board.ts";
import { deleteRunStream } from "../../queue/run-stream.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../usage-error.ts";
import { withBroker } from "./with-broker.ts";

/** Runs `gym queue purge`. */
export function purgeQueue(context: CommandContext): Promise<number> {
  const { out } = context;
  const given = context.positionals["RUN"] as string | undefined;
  const all = Boolean(context.flags["all"]);
  if ((given === undefined) === !all) throw new UsageError("purge needs the id of a run, or --all");
  return withBroker(context, async (broker) => {
    const board = await Board.open(broker);
    const runs =
      given === undefined ? (await board.runs()).map(({ run }) => run) : [(await board.run(given)).run];
    for (const run of runs) {
      await board.removeRun(run);
      await deleteRunStream(broker.jsm, run);
    }
    if (context.json) out(JSON.stringify({ removed: runs }));
    else out(runs.length === 0 ? "No runs." : `Removed ${runs.join(", ")}.`);
    return 0;
  });
}
