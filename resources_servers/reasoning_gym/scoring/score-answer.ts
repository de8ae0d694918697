import { algebra } from "./algebra.ts";
import { arithmetic } from "./arithmetic.ts";
import { boards } from "./boards.ts";
import { codeIo } from "./code-io.ts";
import { cognition, gameOfLifeHalting } from "./cognition.ts";
import { coinFlip } from "./coin-flip.ts";
import { dates } from "./dates.ts";
import { defaultScorer, type Entry, exactly, oracle, type Scorer } from "./entry.ts";
import { graphs } from "./graphs.ts";
import { logic } from "./logic.ts";
import { matrices } from "./matrices.ts";
import { puzzles } from "./puzzles.ts";
import { sameLetters, words } from "./words.ts";

/** Tasks whose answer is compared as text, with partial credit for a text that contains it. */
const DEFAULT_TASKS =
  "acre aiw arc_1d base_conversion basic_arithmetic bf binary_alternation caesar_cipher count_bits count_primes course_schedule gcd " +
  "isomorphic_strings largest_island lcm leg_counting letter_counting list_functions mahjong_puzzle maze modulo_grid number_filtering " +
  "number_sequence ransom_note rotate_matrix rotten_oranges simple_equations simple_geometry string_manipulation string_splitting " +
  "string_synthesis syllogism word_sequence_reversal";

const scorers = new Map<string, Scorer>([
  ...DEFAULT_TASKS.split(" ").map((task): [string, Scorer] => [task, defaultScorer]),
  ...[algebra, arithmetic, boards, cognition, dates, graphs, logic, matrices, puzzles, words].flatMap(
    Object.entries,
  ),
  ["ab", (answer, entry) => exactly(answer === oracle(entry))],
  ["codeio", codeIo],
  ["coin_flip", coinFlip],
  ["game_of_life_halting", gameOfLifeHalting],
  ["zebra_puzzles", sameLetters],
]);

/** Names of the tasks that can be scored. */
export const taskNames: readonly string[] = [...scorers.keys()].sort();

/** The score of an answer, from 0 to 1; 0 for an unknown task or a row that its scorer cannot read. */
export function scoreAnswer(task: string, answer: string, entry: Entry): number {
  const scorer = scorers.get(task);
  if (scorer === undefined) return 0;
  try {
    const score = scorer(answer, entry);
    return Number.isFinite(score) ? score : 0;
  } catch {
    return 0;
  }
}
