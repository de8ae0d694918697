import { loads, strip } from "nemo-gym/python";
import { exactly, metadata, orElse, type Scorer } from "./entry.ts";

const MAX_STEPS = 100_000;

const DIRECTIONS: Readonly<Record<string, readonly [dx: number, dy: number]>> = {
  R: [1, 0],
  L: [-1, 0],
  U: [0, -1],
  D: [0, 1],
};

/** Sokoban: solved if every box is on a goal. Letters that are not moves are skipped. */
const sokoban: Scorer = (answer, entry) =>
  orElse(0, () => {
    const grid = strip(metadata<string>(entry, "gamestr").replaceAll(" ", ""))
      .split("\n")
      .map((line) => [...line]);
    const at = (x: number, y: number) => grid[y]?.[x] ?? "+";
    const isGoal = grid.map((row) => row.map((cell) => "X$%".includes(cell)));
    const boxes = new Set<string>();
    let [x, y] = [-1, -1];
    for (const [row, cells] of grid.entries()) {
      for (const [column, cell] of cells.entries()) {
        if (cell === "@" || cell === "$") boxes.add(`${column},${row}`);
        if (cell === "*" || cell === "%") [x, y] = [column, row];
      }
    }
    if (x < 0) return 0;
    for (const move of answer.slice(0, MAX_STEPS)) {
      const direction = DIRECTIONS[move];
      if (direction === undefined) continue;
      const [nx, ny] = [x + direction[0], y + direction[1]];
      const [bx, by] = [nx + direction[0], ny + direction[1]];
      if (at(nx, ny) === "+") continue;
      if (boxes.has(`${nx},${ny}`)) {
        if (at(bx, by) === "+" || boxes.has(`${bx},${by}`)) continue;
        boxes.delete(`${nx},${ny}`);
        boxes.add(`${bx},${by}`);
      }
      [x, y] = [nx, ny];
    }
    const home = (box: string) => {
      const [column = 0, row = 0] = box.split(",").map(Number);
      return isGoal[row]?.[column] === true;
    };
    return exactly([...boxes].every(home));
  });

const RUSH_SIZE = 6;
const RUSH_TARGET = 2 * RUSH_SIZE + 4;
const RUSH_MOVE = /([A-Z])([+-])(\d{1,3})\d*/g;

interface Car {
  cells: number[];
  stride: number;
}

/** Rush hour: blocked moves do nothing; the first car must reach the exit. */
const rushHour: Scorer = (answer, entry) =>
  orElse(0, () => {
    if (answer === "") return 0;
    const config = metadata<string>(entry, "board_config");
    if (config.length !== RUSH_SIZE * RUSH_SIZE) throw new TypeError("not a board");
    const places = new Map<string, number[]>();
    const taken = new Set<number>();
    for (const [index, label] of [...config].entries()) {
      if (label === "o") continue;
      taken.add(index);
      if (label !== "x") places.set(label, [...(places.get(label) ?? []), index]);
    }
    const cars = [...places.keys()].sort().map((label): Car => {
      const cells = places.get(label) ?? [];
      return { cells, stride: (cells[1] ?? 0) - (cells[0] ?? 0) };
    });
    const walls = [...config].filter((label) => label === "x").length;
    for (const [, label = "", sign, digits] of answer.matchAll(RUSH_MOVE)) {
      const index = label.charCodeAt(0) - 65;
      // Letters after the cars name the walls; the first letter after the walls is an error in the original.
      if (index === cars.length + walls) throw new RangeError("no such car");
      const car = cars[index];
      if (car !== undefined) drive(car, sign === "+" ? 1 : -1, Number(digits), taken);
    }
    return cars[0]?.cells[0] === RUSH_TARGET ? 1 : 0.01;
  });

function drive(car: Car, direction: 1 | -1, steps: number, taken: Set<number>): void {
  for (let step = 0; step < Math.min(steps, RUSH_SIZE); step++) {
    const edge = (direction === 1 ? car.cells.at(-1) : car.cells[0]) ?? 0;
    const next = edge + direction * car.stride;
    const leavesRow = car.stride === 1 && Math.floor(next / RUSH_SIZE) !== Math.floor(edge / RUSH_SIZE);
    if (next < 0 || next >= RUSH_SIZE * RUSH_SIZE || leavesRow || taken.has(next)) return;
    for (const cell of car.cells) taken.delete(cell);
    car.cells = car.cells.map((cell) => cell + direction * car.stride);
    for (const cell of car.cells) taken.add(cell);
  }
}

type Knight = "w" | "B" | null;

/** Knights swap places in turns; "No" if that is impossible. */
const knightSwap: Scorer = (answer, entry) =>
  orElse(0, () => {
    const given = strip(answer);
    const isNo = given.toLowerCase() === "no";
    if (metadata<boolean>(entry, "is_possible") !== true) return exactly(isNo);
    if (isNo || given === "") return 0;
    const moves = loads(given, { allowNonFinite: true });
    if (!Array.isArray(moves)) return 0;
    const board = metadata<Record<string, string[]>>(entry, "board");
    const start = metadata<Record<string, Knight>>(entry, "pieces");
    const pieces = new Map(Object.entries(start));
    let turn = metadata<string>(entry, "start_turn");
    for (const move of moves) {
      const [colour = "", from = "", to = "", ...rest] = (move as string).split(",");
      if (rest.length > 0 || colour !== turn || pieces.get(from) !== colour) return 0;
      if (!Object.hasOwn(board, from) || !board[from]?.includes(to) || (pieces.get(to) ?? null) !== null)
        return 0;
      pieces.set(to, colour as Knight);
      pieces.set(from, null);
      turn = turn === "w" ? "B" : "w";
    }
    const other = { w: "B", B: "w" } as const;
    const swapped = [...pieces].every(([square, piece]) => {
      const before = start[square] ?? null;
      return piece === (before === null ? null : other[before]);
    });
    if (!swapped) return 0.05;
    const best = metadata<unknown[]>(entry, "solution").length;
    return moves.length <= best ? 1 : best / moves.length;
  });

type Place = string | readonly [number, number];

/** Robots push boxes to targets of their colour; the score depends on the number of boxes delivered. */
const boxnet: Scorer = (answer, entry) => {
  let steps: unknown;
  try {
    steps = loads(answer, { allowNonFinite: true });
  } catch {
    return 0;
  }
  if (!Array.isArray(steps)) throw new TypeError("not a list of steps");
  const start = metadata<Record<string, string[]>>(entry, "initial_state");
  const state = new Map(Object.entries(start).map(([square, items]) => [square, [...items]]));
  for (const step of steps)
    for (const [robot, place] of boxnetMoves(step)) applyBoxnetMove(state, robot, place);
  const boxes = (squares: Iterable<string[]>) =>
    [...squares].flat().filter((item) => item.startsWith("box_")).length;
  const before = boxes(Object.values(start));
  return Math.max(0.05, (before - boxes(state.values())) / before);
};

const coordinates = (text: string) => (text.match(/\d+\.?\d*/g) ?? []).map(Number);

/** The moves of one step: the position of a robot, the object it moves, and the destination. The last move of a position wins. */
function boxnetMoves(step: unknown): [readonly number[], { item: string; to: Place }][] {
  if (typeof step !== "object" || step === null || Array.isArray(step)) throw new TypeError("not a step");
  const moves = new Map<string, [readonly number[], { item: string; to: Place }]>();
  for (const [key, value] of Object.entries(step)) {
    const from = coordinates(key);
    const match = /^move\((.*?),\s(.*?)\)/.exec(value as string);
    if (match === null) continue;
    const [, item = "", target = ""] = match;
    const to: Place = target.includes("square")
      ? (coordinates(target) as unknown as [number, number])
      : target;
    moves.set(from.join("_"), [from, { item, to }]);
  }
  return [...moves.values()];
}

const squareName = ([x = 0, y = 0]: readonly number[]) =>
  [x, y].map((n) => (Number.isInteger(n) ? `${n}.0` : `${n}`)).join("_");

function applyBoxnetMove(
  state: Map<string, string[]>,
  from: readonly number[],
  { item, to }: { item: string; to: Place },
): void {
  if (from.length < 2) throw new TypeError("not a square");
  const here = state.get(squareName(from));
  if (here === undefined || !here.includes(item)) return;
  const remove = (thing: string) => here.splice(here.indexOf(thing), 1);
  if (typeof to === "string") {
    const matches = item.startsWith("box_") && to.startsWith("target_") && item.slice(4) === to.slice(7);
    if (!matches || !here.includes(to)) return;
    remove(item);
    remove(to);
    return;
  }
  const [dx, dy] = [Math.abs((from[0] ?? 0) - to[0]), Math.abs((from[1] ?? 0) - to[1])];
  if (!((dx === 0 && dy === 1) || (dx === 1 && dy === 0))) return;
  remove(item);
  const there = state.get(squareName(to));
  if (there === undefined) throw new TypeError("no such square");
  there.push(item);
}

export const boards: Record<string, Scorer> = {
  boxnet,
  knight_swap: knightSwap,
  rush_hour: rushHour,
  sokoban,
};
