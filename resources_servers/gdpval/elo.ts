const SCALE = 400;
const STEPS = 100;
const MARGIN = 4000;
const EXTREME = 0.001;

/** Votes against a reference of known strength. */
export interface Battle {
  elo: number;
  wins: number;
  losses: number;
  ties: number;
}
export interface Rating {
  elo: number;
  normalized: number;
}

const rating = (elo: number): Rating => ({ elo, normalized: (elo - 500) / 2000 });

/** The rating that a win rate against one reference means. */
export function eloOf(winRate: number, reference: number): Rating {
  const rate = Math.min(Math.max(winRate, EXTREME), 1 - EXTREME);
  return rating(reference + SCALE * Math.log10(rate / (1 - rate)));
}

/** The chance to win against a reference. */
export function predictedWinRate(elo: number, reference: number): number {
  return 1 / (1 + 10 ** ((reference - elo) / SCALE));
}

/** The most likely rating; undefined without votes. */
export function mostLikelyElo(battles: readonly Battle[]): Rating | undefined {
  const counted = battles.map((battle) => {
    const votes = battle.wins + battle.losses + battle.ties;
    return { elo: battle.elo, votes, points: battle.wins + battle.ties / 2 };
  });
  const known = counted.filter(({ votes }) => votes > 0);
  const votes = sum(known.map((battle) => battle.votes));
  if (votes === 0) return undefined;
  const rate = sum(known.map(({ points }) => points)) / votes;
  if (rate <= EXTREME || rate >= 1 - EXTREME)
    return eloOf(rate, sum(known.map((battle) => battle.elo * battle.votes)) / votes);
  const elos = known.map(({ elo }) => elo);
  let [low, high] = [Math.min(...elos) - MARGIN, Math.max(...elos) + MARGIN];
  for (let step = 0; step < STEPS; step++) {
    const middle = (low + high) / 2;
    const surplus = sum(
      known.map((battle) => battle.points - battle.votes * predictedWinRate(middle, battle.elo)),
    );
    if (surplus > 0) low = middle;
    else high = middle;
  }
  return rating((low + high) / 2);
}

export const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
