/**
 * Detects the language of a text with naive Bayes over letter n-grams (Nakatani Shuyo, Language Detection Library for
 * Java, 2010). The method samples n-grams at random. The sampling is seeded, so the result for a text is always the same.
 *
 * @module
 */
import { PyRandom } from "nemo-gym/python";
import { type GramWeights, languageProfiles } from "./language-profiles.ts";
import { letterGrams } from "./letter-grams.ts";

const SEED = 0;
const TRIALS = 7;
const MAX_DRAWS = 1000;
const CHECK_EVERY = 5;
const CONVERGED = 0.99999;
const LEAST_PROBABILITY = 0.1;
const SMOOTHING = 0.5;
const SMOOTHING_SPREAD = 0.05;
const BASE_FREQUENCY = 10_000;

/** The ISO code of the language ("en", "zh-cn"), "unknown" if none is likely, null if the text has no letters. */
export function detectLanguage(text: string): string | null {
  const { codes, grams } = languageProfiles();
  const found = letterGrams(text, (gram) => grams.get(gram));
  if (found.length === 0) return null;
  const random = new PyRandom(SEED);
  const gauss = gaussian(random);
  const mean = new Float64Array(codes.length);
  for (let trial = 0; trial < TRIALS; trial++) {
    const smoothing = (SMOOTHING + gauss() * SMOOTHING_SPREAD) / BASE_FREQUENCY;
    const draw = () => found[random.below(found.length)] as GramWeights;
    const probabilities = converge(codes.length, draw, smoothing);
    for (let index = 0; index < mean.length; index++) {
      mean[index] = (mean[index] ?? 0) + (probabilities[index] ?? 0) / TRIALS;
    }
  }
  const best = mean.indexOf(Math.max(...mean));
  return (mean[best] ?? 0) > LEAST_PROBABILITY ? (codes[best] ?? "unknown") : "unknown";
}

function converge(languages: number, draw: () => GramWeights, smoothing: number): Float64Array {
  const probabilities = new Float64Array(languages).fill(1 / languages);
  for (let draws = 0; ; draws++) {
    update(probabilities, draw(), smoothing);
    if (draws % CHECK_EVERY === 0 && (normalize(probabilities) > CONVERGED || draws >= MAX_DRAWS)) {
      return probabilities;
    }
  }
}

function update(probabilities: Float64Array, { languages, weights }: GramWeights, smoothing: number): void {
  const raised: number[] = [];
  for (let index = 0; index < languages.length; index++) {
    raised.push((probabilities[languages[index] ?? 0] ?? 0) * (smoothing + (weights[index] ?? 0)));
  }
  for (let index = 0; index < probabilities.length; index++) {
    probabilities[index] = (probabilities[index] ?? 0) * smoothing;
  }
  for (let index = 0; index < languages.length; index++) {
    probabilities[languages[index] ?? 0] = raised[index] ?? 0;
  }
}

/** Normalizes the probabilities and returns the largest one. */
function normalize(probabilities: Float64Array): number {
  let sum = 0;
  for (const probability of probabilities) sum += probability;
  let largest = 0;
  for (let index = 0; index < probabilities.length; index++) {
    const probability = (probabilities[index] ?? 0) / sum;
    probabilities[index] = probability;
    if (probability > largest) largest = probability;
  }
  return largest;
}

/** Normally distributed numbers, two for every two draws (Box-Muller, as in `random.gauss`). */
function gaussian(random: PyRandom): () => number {
  let spare: number | undefined;
  return () => {
    if (spare !== undefined) {
      const value = spare;
      spare = undefined;
      return value;
    }
    const angle = random.random() * 2 * Math.PI;
    const radius = Math.sqrt(-2 * Math.log(1 - random.random()));
    spare = Math.sin(angle) * radius;
    return Math.cos(angle) * radius;
  };
}
