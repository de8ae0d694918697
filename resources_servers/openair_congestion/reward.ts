import type { Network } from "./network.ts";

export const WEIGHTS = {
  ...{ w_sla: 1, w_tput: 2, w_fair: 5, w_buffer: 0.15, w_sla_level: 0.8, w_prb_level: 0.4 },
  ...{ w_access_level: 0.3, w_fair_level: 0.35, w_action: 0, w_reject: 0.5 },
};
export type Weights = typeof WEIGHTS;

export const PRB_PRESSURE_THRESHOLD = 0.85;
const CELL_MBPS = 60;

/** The parts of the reward for a second, by name. A refused action earns nothing for what got better. */
export function rewardTerms(before: Network, after: Network, weights: Weights, refused: boolean) {
  const better = {
    delta_sla: weights.w_sla * (violations(before) - violations(after)),
    delta_tput: (weights.w_tput * (throughput(after) - throughput(before))) / (CELL_MBPS * after.length),
    delta_fair: weights.w_fair * (fairness(after) - fairness(before)),
  };
  const ues = after.flatMap((cell) => cell.ues);
  const terms = {
    delta_sla: refused ? Math.min(better.delta_sla, 0) : better.delta_sla,
    delta_tput: refused ? Math.min(better.delta_tput, 0) : better.delta_tput,
    delta_fair: refused ? Math.min(better.delta_fair, 0) : better.delta_fair,
    level_sla: (-weights.w_sla_level * violations(after)) / ues.length,
    level_prb:
      -weights.w_prb_level * mean(after, ({ prbP99 }) => excess(prbP99, PRB_PRESSURE_THRESHOLD, 0.15)),
    level_access:
      -weights.w_access_level * mean(after, ({ prachCollisions }) => excess(prachCollisions, 0.05, 0.45)),
    level_fair: -weights.w_fair_level * mean(after, ({ jain }) => excess(0.8, jain, 0.8)),
    level_buffer: -weights.w_buffer * mean(ues, ({ bufferKb }) => excess(bufferKb / 1024, 0.7, 1)),
    action: -weights.w_action,
    reject: refused ? -weights.w_reject : 0,
  };
  return { ...terms, total: Object.values(terms).reduce((sum, term) => sum + term, 0) };
}

const violations = (network: Network): number =>
  network.flatMap(({ ues }) => ues).filter((ue) => ue.violations > 0).length;
const throughput = (network: Network): number =>
  network.flatMap(({ ues }) => ues).reduce((sum, { deliveredMbps }) => sum + deliveredMbps, 0);
const fairness = (network: Network): number => mean(network, ({ jain }) => jain);
const excess = (value: number, threshold: number, scale: number): number =>
  Math.max(0, value - threshold) / scale;

function mean<Item>(items: readonly Item[], value: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0) / items.length;
}
