import { splitWords, strip } from "nemo-gym/python";
import { exactly, metadata, oracle, type Scorer } from "./entry.ts";

const STEPS: Readonly<Record<string, readonly [dy: number, dx: number]>> = {
  right: [0, 1],
  down: [1, 0],
  left: [0, -1],
  up: [-1, 0],
};

function leadsToGoal(matrix: readonly (readonly string[])[], path: readonly string[]): boolean {
  const find = (symbol: string): [number, number] => {
    const y = matrix.findIndex((row) => row.includes(symbol));
    return [y, matrix[y]?.indexOf(symbol) ?? -1];
  };
  let [y, x] = find("*");
  for (const word of path) {
    const step = Object.hasOwn(STEPS, word) ? STEPS[word] : undefined;
    if (step === undefined) return false;
    [y, x] = [y + step[0], x + step[1]];
    const cell = matrix[y]?.[x];
    if (cell === undefined || cell === "X") return false;
  }
  const [goalY, goalX] = find("#");
  return y === goalY && x === goalX;
}

const shortestPath: Scorer = (answer, entry) => {
  if (answer === "") return 0;
  const wanted = strip(oracle(entry));
  const given = strip(answer);
  if (given === wanted) return 1;
  const path = splitWords(given);
  if (!leadsToGoal(metadata<string[][]>(entry, "matrix"), path)) return 0;
  return path.length === splitWords(wanted).length ? 1 : 0.5;
};

const pathStar: Scorer = (answer, entry) => {
  const words = (text: string) => splitWords(text).join(" ");
  return exactly(strip(answer) !== "" && words(answer) === words(oracle(entry)));
};

interface Button {
  name: string;
  type: string;
  value: number;
  active_state: string;
}

/** Further presses of an answer are ignored. */
const MAX_PRESSES = 10_000;

function press(metadataOf: <T>(key: string) => T, presses: readonly string[]): bigint {
  const buttons = new Map(metadataOf<Button[]>("buttons").map((button) => [button.name, button]));
  let value = BigInt(metadataOf<number>("initial_value"));
  let colour = metadataOf<string>("initial_state");
  for (const name of presses.slice(0, MAX_PRESSES)) {
    const button = buttons.get(name);
    if (button === undefined || (button.active_state !== colour && button.active_state !== "any")) continue;
    const by = BigInt(button.value);
    if (button.type === "add") value += by;
    else if (button.type === "subtract") value -= by;
    else if (button.type === "multiply") value *= by;
    colour = colour === "red" ? "green" : "red";
  }
  return value;
}

const quantumLock: Scorer = (answer, entry) => {
  const buttons = (text: string): string[] => text.toUpperCase().match(/[A-C]/g) ?? [];
  const [given, wanted] = [buttons(answer), buttons(oracle(entry))];
  if (given.join("") === wanted.join("")) return 1;
  const reached =
    press((key) => metadata(entry, key), given) === BigInt(metadata<number>(entry, "target_value"));
  if (!reached) return 0;
  return given.length === wanted.length ? 1 : 0.5;
};

const familyRelationships: Scorer = (answer, entry) =>
  exactly(strip(answer).toLowerCase() === strip(oracle(entry)).toLowerCase());

export const graphs: Record<string, Scorer> = {
  family_relationships: familyRelationships,
  path_star: pathStar,
  quantum_lock: quantumLock,
  shortest_path: shortestPath,
};
