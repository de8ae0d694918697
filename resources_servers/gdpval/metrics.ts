import type { JsonObject, MetricsHooks } from "nemo-gym";
import { isObject } from "nemo-gym/python";
import { type Config, referencesOf } from "./config.ts";
import { type Battle, eloOf, mostLikelyElo, predictedWinRate, sum } from "./elo.ts";

const PREFIX = "comparison/";

/** Votes and a rating. Rubric runs have none. */
export function gdpvalMetrics(config: Config): MetricsHooks {
  return {
    compute(tasks) {
      const rows = tasks.flat();
      const staged = rows.filter((row) => typeof row["stage_index"] === "number");
      if (config.reward_mode !== "comparison") return {};
      const stages = [...new Set(staged.map((row) => Number(row["stage_index"])))].sort((a, b) => a - b);
      const pooled = comparison(rows, config);
      if (Object.keys(pooled).length === 0 || stages.length === 0) return pooled;
      const metrics: JsonObject = { ...pooled, [`${PREFIX}num_stages`]: stages.length };
      for (const stage of stages) {
        const members = staged.filter((row) => row["stage_index"] === stage);
        const { eval_elo, normalized_elo, num_references } = fitOf(comparison(members, config));
        const num_tasks = new Set(members.map((row) => row["task_id"])).size;
        const figures = { eval_elo, normalized_elo, num_references, num_tasks };
        for (const [name, value] of Object.entries(figures))
          if (value !== undefined) metrics[`${PREFIX}stage_${stage}/${name}`] = value;
        // The last stage has the references that are nearest to the model.
        if (typeof eval_elo === "number" && stage === stages.at(-1)) {
          const fit = { eval_elo, normalized_elo, num_references };
          for (const [name, value] of Object.entries(fit)) metrics[PREFIX + name] = value;
          for (const [id, { elo }] of battlesOf(rows, referencesOf(config)))
            metrics[`${PREFIX}ref/${id}/predicted_win_rate`] = predictedWinRate(eval_elo, elo);
        }
      }
      return metrics;
    },
    key: (metrics) =>
      Object.fromEntries(
        Object.entries(metrics).filter(([name]) => name.startsWith("mean/") || name.startsWith(PREFIX)),
      ),
  };
}

const fitOf = (metrics: JsonObject) => ({
  eval_elo: metrics[`${PREFIX}eval_elo`],
  normalized_elo: metrics[`${PREFIX}normalized_elo`],
  num_references: metrics[`${PREFIX}num_references`],
});

function comparison(rows: readonly JsonObject[], config: Config): JsonObject {
  const all = rows.map(votesOf);
  const votes = {
    wins: sum(all.map((each) => each.wins)),
    losses: sum(all.map((each) => each.losses)),
    ties: sum(all.map((each) => each.ties)),
  };
  const judged = votes.wins + votes.losses + votes.ties;
  if (judged === 0) return {};
  const winRate = (votes.wins + votes.ties / 2) / judged;
  const metrics: JsonObject = { ...votes, judged, win_rate: winRate };
  const battles = battlesOf(rows, referencesOf(config));
  for (const [id, { elo, ...own }] of battles) {
    const count = own.wins + own.losses + own.ties;
    const figures = {
      ...own,
      judged: count,
      win_rate: count > 0 ? (own.wins + own.ties / 2) / count : 0,
      reference_elo: elo,
    };
    for (const [name, value] of Object.entries(figures)) metrics[`ref/${id}/${name}`] = value;
  }
  const fit = mostLikelyElo([...battles.values()]);
  const { elo, normalized } = fit ?? eloOf(winRate, config.reference_elo);
  Object.assign(metrics, {
    eval_elo: elo,
    normalized_elo: normalized,
    num_references: fit ? battles.size : 1,
  });
  if (!fit) metrics["reference_elo"] = config.reference_elo;
  else
    for (const [id, battle] of battles)
      metrics[`ref/${id}/predicted_win_rate`] = predictedWinRate(elo, battle.elo);
  return Object.fromEntries(Object.entries(metrics).map(([name, value]) => [PREFIX + name, value]));
}

function votesOf(row: JsonObject) {
  const { total_wins: wins, total_losses: losses, total_ties: ties } = row;
  if ([wins, losses, ties].some((value) => typeof value === "number"))
    return { wins: Number(wins ?? 0), losses: Number(losses ?? 0), ties: Number(ties ?? 0) };
  const flag = (name: string) => Number(row[name] === true);
  return { wins: flag("win"), losses: flag("loss"), ties: flag("tie") };
}

/** The votes against each reference with its strength: that of the config, else the recorded one. */
export function battlesOf(
  rows: readonly JsonObject[],
  known: ReadonlyMap<string, { elo: number }>,
): Map<string, Battle> {
  const battles = new Map<string, Battle>();
  for (const { per_reference: list } of rows)
    for (const [id, votes] of Object.entries(isObject(list) ? list : {})) {
      if (!isObject(votes)) continue;
      const battle = battles.get(id) ?? {
        elo: known.get(id)?.elo ?? Number(votes["reference_elo"]),
        wins: 0,
        losses: 0,
        ties: 0,
      };
      battles.set(id, battle);
      for (const name of ["wins", "losses", "ties"] as const) battle[name] += Number(votes[name] ?? 0);
    }
  return battles;
}
