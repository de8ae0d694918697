import { createHash } from "node:crypto";
import { PyRandom, pyRepr } from "nemo-gym/python";
import type { Member } from "./config.ts";
import { sum } from "./elo.ts";

const SEED_DIGITS = 16;

/** A random source that depends only on the seed of the config and on what is judged. */
export function randomFor(seed: number | null, parts: readonly string[]): PyRandom {
  const text = [pyRepr(seed), ...parts].join("|");
  const digest = createHash("sha256").update(text).digest("hex").slice(0, SEED_DIGITS);
  return new PyRandom(BigInt(`0x${digest}`));
}

/** Draws a member of the panel by weight. */
export function drawMember(panel: readonly Member[], random: PyRandom): Member {
  const [only] = panel;
  if (only !== undefined && panel.length === 1) return only;
  const weights = panel.map(({ weight }) => Math.max(0, weight));
  const total = sum(weights);
  if (total === 0) return panel[random.below(panel.length)] as Member;
  const at = random.random() * total;
  const chosen = panel.find((_, index) => at < sum(weights.slice(0, index + 1)));
  return chosen ?? (panel.at(-1) as Member);
}
