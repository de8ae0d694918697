import { RolloutError } from "../../records/errors.ts";
import { type JudgedAgent, readJudgedRun } from "../../records/judges/door.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { rolloutFile, shownPath } from "../files.ts";
import { hint } from "../hint.ts";

/** The rollouts of a run that a judge scored, of one agent. */
export async function judgedAgent(
  context: CommandContext,
  given: string,
  name: string | undefined,
): Promise<{ path: string; agent: JudgedAgent }> {
  const file = await rolloutFile(context, given, "RUN", { directory: true });
  const { path, agents } = await readJudgedRun(file, { signal: context.signal, digests: true });
  const names = agents.map(({ agent }) => agent);
  const shown = shownPath(context, path);
  if (agents.length === 0)
    throw new RolloutError(
      "ROLLOUT_NOT_JUDGED",
      `No rollout of '${shown}' names a judge: its environment asks none.`,
    );
  if (name === undefined && agents.length > 1)
    throw new UsageError(
      `'${shown}' has several agents with a judge: ${names.join(", ")}. Name one with --agent.`,
    );
  const agent = name === undefined ? agents[0] : agents.find((each) => each.agent === name);
  if (agent === undefined)
    throw new UsageError(
      `argument --agent: no rollout of '${name}' in '${shown}' names a judge.${hint(name ?? "", names) || ` Agents with a judge: ${names.join(", ")}.`}`,
    );
  if (agent.rollouts.length === 0)
    throw new RolloutError("ROLLOUT_NOT_JUDGED", `No rollout of '${agent.agent}' in '${shown}' is scored.`);
  return { path, agent };
}
