import { loads, parsePyInt, pyEquals, rstrip, splitLines, splitWords, strip } from "nemo-gym/python";
import { evaluateNumber } from "../symbolic/evaluate.ts";
import { parseExpression } from "../symbolic/parse-expression.ts";
import { type Entry, metadata, orElse, type Scorer } from "./entry.ts";
import { parseLiteral } from "./python-literal.ts";

type JsonObject = Record<string, unknown>;

const json = (text: string): unknown => loads(text, { allowNonFinite: true });

function objectOf(value: unknown): JsonObject {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError("not an object");
  return value as JsonObject;
}

/** Cryptarithms: letters represent digits, and the words must add up. */
const cryptarithm: Scorer = (answer, entry) => {
  const digits = new Map<string, bigint>();
  for (const pair of answer.split(",")) {
    const [letter = "", digit, ...rest] = strip(pair).split("=");
    const value = digit === undefined || rest.length > 0 ? undefined : parsePyInt(digit);
    if (value === undefined) return 0;
    digits.set(strip(letter), value);
  }
  return solvesCryptarithm(digits, entry) ? 1 : 0.01;
};

function solvesCryptarithm(digits: ReadonlyMap<string, bigint>, entry: Entry): boolean {
  const words = metadata<string[]>(entry, "words_letters");
  const result = metadata<string>(entry, "result_letters");
  const letters = new Set([...words, result].flatMap((word) => [...word]));
  if (letters.size !== digits.size || ![...letters].every((letter) => digits.has(letter))) return false;
  const values = [...digits.values()];
  if (values.some((value) => value < 0n || value > 9n) || new Set(values).size !== values.length)
    return false;
  const leadsWithZero = (word: string) => word !== "" && digits.get(word[0] ?? "") === 0n;
  if (entry.metadata["allow_leading_zero"] !== true && [...words, result].some(leadsWithZero)) return false;
  const numberOf = (word: string) =>
    [...word].reduce((total, letter) => total * 10n + (digits.get(letter) ?? 0n), 0n);
  return words.reduce((total, word) => total + numberOf(word), 0n) === numberOf(result);
}

/** Adjacent vertices must have different, allowed colours. */
const graphColor: Scorer = (answer, entry) =>
  orElse(0, () => {
    const given = json(answer);
    const puzzle = metadata<{ vertices: unknown[]; edges: [unknown, unknown][]; color_options: unknown[] }>(
      entry,
      "puzzle",
    );
    // A list assigns no colour to any vertex.
    const colours = Array.isArray(given) ? {} : objectOf(given);
    const colourOf = (vertex: unknown) =>
      Object.hasOwn(colours, String(vertex)) ? colours[String(vertex)] : undefined;
    const allowed = (vertex: unknown) => {
      const colour = colourOf(vertex);
      return colour !== undefined && puzzle.color_options.some((option) => pyEquals(option, colour));
    };
    if (!puzzle.vertices.every(allowed)) return 0.01;
    return puzzle.edges.some(([u, v]) => pyEquals(colourOf(u), colourOf(v))) ? 0.01 : 1;
  });

/** Water jugs: after the last move one jug must hold the target. */
const jugs: Scorer = (answer, entry) =>
  orElse(0, () => {
    const moves = json(answer);
    if (!Array.isArray(moves)) throw new TypeError("not a list of moves");
    const { jug_capacities: capacities, target } = metadata<{ jug_capacities: number[]; target: number }>(
      entry,
      "puzzle",
    );
    const state = capacities.map(() => 0);
    const jug = (label: string | undefined) => {
      const index = label?.length === 1 ? label.charCodeAt(0) - 65 : -1;
      if (!(index in capacities)) throw new TypeError("no such jug");
      return index;
    };
    for (const move of moves) {
      const [verb, what = ""] = splitWords(move as string);
      if (verb === "fill") state[jug(what)] = capacities[jug(what)] ?? 0;
      else if (verb === "empty") state[jug(what)] = 0;
      else if (verb === "pour") {
        const [source, target, ...rest] = what.split("->");
        if (rest.length > 0) throw new TypeError("not a move");
        const [from, to] = [jug(source), jug(target)];
        const amount = Math.min(state[from] ?? 0, (capacities[to] ?? 0) - (state[to] ?? 0));
        state[from] = (state[from] ?? 0) - amount;
        state[to] = (state[to] ?? 0) + amount;
      } else throw new TypeError("not a move");
    }
    return state.includes(target) ? 1 : 0.01;
  });

const DIGITS = "123456789";

/** Grids of digits: the exact text scores highest, the same digits in another layout score less, and extra length reduces the score. */
const digitGrid: Scorer = (answer, entry) => {
  if (answer === "") return 0;
  const wanted = entry.answer ?? "";
  const solution = metadata<number[][]>(entry, "solution");
  const size = solution[0]?.length ?? 0;
  const trimmed = (text: string) =>
    text
      .split("\n")
      .map((line) => rstrip(line))
      .join("\n");
  let reward = 1;
  if (trimmed(answer) !== trimmed(wanted)) {
    let [row, right] = [0, 0];
    for (const line of answer.split("\n")) {
      if (row >= solution.length) break;
      const numbers = [...line].filter((character) => DIGITS.includes(character)).map(Number);
      if (numbers.length !== size) continue;
      right += numbers.filter((number, column) => number === solution[row]?.[column]).length;
      row++;
    }
    reward = (right / (size * size)) * 0.9;
  }
  const [length, limit] = [Array.from(answer).length, Array.from(wanted).length];
  return length > limit ? reward * (limit / length) : reward;
};

const queens: Scorer = (answer, entry) => {
  const valid = metadata<string[]>(entry, "valid_answers");
  if (valid.includes(answer)) return 1;
  return orElse(0, () => {
    const rows = parseLiteral(answer);
    if (!Array.isArray(rows)) return 0;
    const text = rows.map((row) => (Array.isArray(row) ? row : Array.from(String(row))).join(" ")).join("\n");
    return valid.includes(text) ? 0.5 : 0;
  });
};

const integersIn = (text: string) =>
  (text.match(/(?<![\p{L}\p{N}_])\d+(?![\p{L}\p{N}_])/gu) ?? []).map(Number);

/** Whether all numbers are used once and the target is reached. */
const countdown: Scorer = (answer, entry) => {
  if (strip(answer) === "") return 0.01;
  return orElse(0.01, () => {
    const value = evaluateNumber(parseExpression(answer));
    if (!Number.isFinite(value)) return 0.01;
    const ascending = (numbers: readonly number[]) => [...numbers].sort((left, right) => left - right);
    if (!pyEquals(ascending(integersIn(answer)), ascending(metadata<number[]>(entry, "numbers"))))
      return 0.05;
    const target = metadata<number>(entry, "target");
    return Math.abs(value - target) <= 1e-6 + 1e-5 * Math.abs(target) ? 1 : 0.05;
  });
};

const SMALLEST_24 = 1;
const LARGEST_24 = 10;

const puzzle24: Scorer = (answer) =>
  orElse(0.01, () => {
    const value = evaluateNumber(parseExpression(strip(answer)));
    const used = integersIn(answer);
    const fits = used.length === 4 && used.every((number) => number >= SMALLEST_24 && number <= LARGEST_24);
    return fits && Math.trunc(value) === 24 ? 1 : 0.01;
  });

const HANOI_MOVE = /Move disk (\d+) from Peg (\d+) to Peg (\d+)/;

/** Tower of Hanoi: all moves must be legal; extra moves reduce the score. */
const towerOfHanoi: Scorer = (answer, entry) => {
  if (answer === "") return 0;
  const moves = splitLines(strip(answer))
    .map((line) => strip(line))
    .filter((line) => line !== "");
  const [disks, pegs] = [metadata<number>(entry, "num_disks"), metadata<number>(entry, "num_pegs")];
  const state = Array.from({ length: pegs + 1 }, (): number[] => []);
  const [start, target] = [
    state[metadata<number>(entry, "start_peg")],
    state[metadata<number>(entry, "target_peg")],
  ];
  if (start === undefined || target === undefined) return 0;
  for (let disk = disks; disk > 0; disk--) start.push(disk);
  for (const move of moves) {
    const match = HANOI_MOVE.exec(move);
    const words = splitWords(move);
    const numbers = [words[2], words[5], words[8]].map((word) => parsePyInt(word ?? ""));
    if (match === null || words.length !== 9 || numbers.includes(undefined)) return 0;
    const [disk, from, to] = match.slice(1).map(Number);
    const [source, goal] = [state[from ?? 0], state[to ?? 0]];
    if (disk === undefined || from === 0 || to === 0 || source === undefined || goal === undefined) return 0;
    if (source.at(-1) !== disk || (goal.at(-1) ?? disk) < disk) return 0;
    source.pop();
    goal.push(disk);
  }
  if (target.length !== disks) return 0.05;
  const best = (entry.metadata["solution_length"] as number | undefined) ?? moves.length;
  return moves.length <= best ? 1 : best / moves.length;
};

export const puzzles: Record<string, Scorer> = {
  countdown,
  cryptarithm,
  futoshiki: digitGrid,
  graph_color: graphColor,
  jugs,
  mini_sudoku: digitGrid,
  n_queens: queens,
  puzzle24,
  sudoku: digitGrid,
  tower_of_hanoi: towerOfHanoi,
};
