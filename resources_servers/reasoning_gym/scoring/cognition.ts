import { parsePyFloat, parsePyInt, pyRound, splitWords, strip } from "nemo-gym/python";
import { Cube } from "./cube.ts";
import { containmentScore, exactly, metadata, oracle, orElse, type Scorer } from "./entry.ts";

const colorCubeRotation: Scorer = (answer, entry) =>
  strip(answer).toLowerCase() === strip(oracle(entry)).toLowerCase() ? 1 : 0.01;

/** A count that is off by this much scores 0. */
const RECTANGLE_RANGE = 5;

const rectangleCount: Scorer = (answer, entry) => {
  const [given, wanted] = [parsePyInt(answer), parsePyInt(oracle(entry).replaceAll("\n", ""))];
  if (given === undefined || wanted === undefined) return 0;
  const distance = Math.abs(Number(given - wanted));
  if (distance === 0) return 1;
  return distance >= RECTANGLE_RANGE ? 0 : 0.8 * (1 - distance / RECTANGLE_RANGE);
};

const MAX_TURNS = 10_000;

/** Words that are not moves are skipped, and a partly solved cube gets no credit, as in the original. */
const rubiksCube: Scorer = (answer, entry) => {
  const cube = new Cube(metadata<number>(entry, "cube_size"));
  for (const move of splitWords(metadata<string>(entry, "scramble_moves"))) cube.turn(move);
  return orElse(0.01, () => {
    let turns = 0;
    for (const word of splitWords(answer)) {
      const counted = /^([^\d]*)(\d*)$/.exec(word);
      if (counted === null) continue;
      const [, move = "", digits = ""] = counted;
      const count = digits === "" ? 1 : Number(digits);
      turns += count;
      if (turns > MAX_TURNS) throw new RangeError("too many turns");
      // A number without a preceding letter repeats nothing.
      for (let turn = 0; move !== "" && turn < count; turn++) cube.turn(move);
    }
    return cube.isSolved() ? 1 : 0.01;
  });
};

function float(text: string | undefined): number {
  const value = text === undefined ? undefined : parsePyFloat(strip(text));
  if (value === undefined) throw new TypeError("not a number");
  return value;
}

/** `7/23` or `2`. */
function fraction(text: string): number {
  const [top, bottom] = text.split("/");
  return bottom === undefined ? float(top) : float(top) / float(bottom);
}

const sameRounded = (left: number, right: number, digits: number) =>
  pyRound(left, digits) === pyRound(right, digits);

const advancedGeometry: Scorer = (answer, entry) =>
  orElse(0.01, () => {
    const wanted = oracle(entry);
    switch (metadata<string>(entry, "task_type")) {
      case "angle_measure": {
        const plain = answer.replaceAll("°", "");
        if (sameRounded(float(plain), float(wanted.replaceAll("°", "")), 2)) return 1;
        return strip(plain) === "" ? 0.01 : 0.05;
      }
      case "orthocenter": {
        const [first = "", second = ""] = answer.split(",");
        const [x, y] = [float(first.replaceAll("(", "")), float(second.replaceAll(")", ""))];
        const [ox = "", oy = ""] = metadata<string[]>(entry, "ortho");
        return sameRounded(x, fraction(ox), 3) && sameRounded(y, fraction(oy), 3) ? 1 : 0.01;
      }
      case "incircle_radius":
        if (answer === wanted) return 1;
        if (sameRounded(float(answer), float(String(metadata(entry, "incircle_radius_exact"))), 2))
          return 0.5;
        return strip(answer) === "" ? 0.01 : 0.05;
      default:
        return 0.01;
    }
  });

const tsumego: Scorer = (answer, entry) => {
  if (answer === "") return 0;
  const wanted = strip(oracle(entry));
  const given = strip(answer).toUpperCase();
  const share = containmentScore(given, wanted);
  if (share > 0) return share;
  return /^[A-Z]\d+$/.test(given) ? 0.05 : 0.01;
};

export const cognition: Record<string, Scorer> = {
  advanced_geometry: advancedGeometry,
  color_cube_rotation: colorCubeRotation,
  rectangle_count: rectangleCount,
  rubiks_cube: rubiksCube,
  tsumego,
};

/** Compares only whether both texts are empty, because the original reads both "True" and "False" as true. */
export const gameOfLifeHalting: Scorer = (answer, entry) =>
  exactly((answer !== "") === (oracle(entry) !== ""));
