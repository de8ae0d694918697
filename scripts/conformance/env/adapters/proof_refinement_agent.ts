import type { Adapter } from "../adapters.ts";
import { outputTexts, runAgent } from "../agent-case.ts";
import { difference } from "../compare.ts";
import type { FixtureRow } from "../rows.ts";

/** Runs the turns with a scripted model and scripted verdicts. */
async function runTurns(row: FixtureRow): Promise<string | undefined> {
  const { body, calls } = await runAgent(row, "proof_refinement_agent", row.config ?? {});
  const seen = calls.map(({ server, path, body: sent }) => {
    if (server === "model") return { to: "self", body: sent };
    if (path === "seed_session") return { to: path };
    return { to: path, turn_index: sent["turn_index"], text: outputTexts(sent["response"]).join("") };
  });
  const { reward, total_turns, all_attempts } = body;
  const run = { reward, total_turns, all_attempts, calls: seen };
  return difference(run, row.expected, "run", { subset: true });
}

export const adapter: Adapter = { caseOf: (row) => () => runTurns(row) };
