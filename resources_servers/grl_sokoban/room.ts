import { setImmediate } from "node:timers/promises";
import { MersenneTwister, PyRandom } from "nemo-gym/python";

/** What a cell contains. */
export const Cell = { wall: 0, floor: 1, target: 2, boxOnTarget: 3, box: 4, player: 5 } as const;

export interface Room {
  rows: number;
  columns: number;
  /** Walls, floor and targets. */
  fixed: Uint8Array;
  /** The same with the boxes and the player. */
  state: Uint8Array;
}

export interface RoomSettings {
  rows: number;
  columns: number;
  boxes: number;
  searchDepth: number;
  seed: number;
}

/** There is no room with these settings. */
export class RoomError extends Error {}

const TRIES = 4;
const MAX_RESEEDS = 100;
const MAX_STATES = 300_000;
const STATES_PER_TURN = 200;
const CHANGE_DIRECTION = 0.35;
const MAX_WALK = 3;
const DIRECTIONS = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
] as const;
/** Cells of floor around a position, in the order of the original. */
const MASKS = [
  ["000", "111", "000"],
  ["010", "010", "010"],
  ["000", "110", "010"],
  ["000", "110", "110"],
  ["000", "011", "010"],
] as const;

/** A room that can be solved, the same for a seed as in the original. A seed without a room is replaced by the next. */
export async function createRoom(settings: RoomSettings): Promise<Room> {
  for (let offset = 0; offset < MAX_RESEEDS; offset++) {
    const seed = (settings.seed + offset) % 2 ** 32;
    const room = await tryRoom({ ...settings, seed });
    if (room) return room;
  }
  const { rows, columns, boxes } = settings;
  throw new RoomError(`A room of ${rows} x ${columns} cells has no place for ${boxes} boxes.`);
}

async function tryRoom(settings: RoomSettings): Promise<Room | undefined> {
  const { rows, columns, boxes, searchDepth, seed } = settings;
  const random = new PyRandom(seed);
  const numpy = MersenneTwister.fromNumber(seed);
  for (let count = 0; count < TRIES; count++) {
    const state = carve(rows, columns, random);
    if (!place(state, boxes, numpy)) return undefined;
    const fixed = state.map((cell) => (cell === Cell.player ? Cell.floor : cell));
    const start = state.map((cell) => (cell === Cell.target ? Cell.box : cell));
    const best = await playBackwards({ rows, columns, fixed, state: start }, searchDepth);
    if (best.displacement === 0) continue;
    const room = { rows, columns, fixed, state: best.state };
    walk(room, best.displacement === 1 ? 0.8 : 0.5, random);
    return room;
  }
  return undefined;
}

/** A random walk that leaves floor behind it. */
function carve(rows: number, columns: number, random: PyRandom): Uint8Array {
  const cells = new Uint8Array(rows * columns);
  const clamp = (value: number, size: number) => Math.max(Math.min(value, size - 2), 1);
  let [down, right] = random.choice(DIRECTIONS);
  let row = random.int(1, rows - 1);
  let column = random.int(1, columns - 1);
  for (let steps = Math.trunc(1.7 * (rows + columns)); steps > 0; steps--) {
    if (random.random() < CHANGE_DIRECTION) [down, right] = random.choice(DIRECTIONS);
    row = clamp(row + down, rows);
    column = clamp(column + right, columns);
    for (const [y, line] of random.choice(MASKS).entries())
      for (const [x, mark] of [...line].entries())
        if (mark === "1") cells[(row + y - 1) * columns + column + x - 1] = Cell.floor;
  }
  for (let at = 0; at < cells.length; at++) {
    const [y, x] = [Math.floor(at / columns), at % columns];
    if (y === 0 || x === 0 || y === rows - 1 || x === columns - 1) cells[at] = Cell.wall;
  }
  return cells;
}

/** Places the player and the targets; false if there is too little floor. */
function place(cells: Uint8Array, boxes: number, numpy: MersenneTwister): boolean {
  const floor = () => [...cells.keys()].filter((at) => cells[at] === Cell.floor);
  if (floor().length <= boxes + 1) return false;
  for (let count = 0; count <= boxes; count++) {
    const free = floor();
    cells[free[below(numpy, free.length)] ?? 0] = count === 0 ? Cell.player : Cell.target;
  }
  return true;
}

/** `numpy.random.randint(limit)` of the legacy generator. */
function below(numpy: MersenneTwister, limit: number): number {
  if (limit === 1) return 0;
  const mask = 2 ** (32 - Math.clz32(limit - 1)) - 1;
  for (;;) {
    const value = (numpy.next() & mask) >>> 0;
    if (value < limit) return value;
  }
}

interface Node {
  state: Uint8Array;
  player: number;
  /** Where the box of each target is. */
  boxes: number[];
  swaps: number;
  lastPulled: number;
  depth: number;
}

interface Best {
  state: Uint8Array;
  displacement: number;
}

/** Pulls boxes from their targets, depth first, and returns the state that is hardest to solve. */
async function playBackwards(room: Room, searchDepth: number): Promise<Best> {
  const { columns, fixed, state } = room;
  const targets = [...fixed.keys()].filter((at) => fixed[at] === Cell.target);
  const distance = (boxes: number[]) =>
    boxes.reduce((sum, box, index) => {
      const target = targets[index] ?? 0;
      const apart = Math.abs(Math.floor(box / columns) - Math.floor(target / columns));
      return sum + apart + Math.abs((box % columns) - (target % columns));
    }, 0);
  const seen = new Set<string>();
  const player = state.indexOf(Cell.player);
  const stack: Node[] = [
    { state, player, boxes: [...targets], swaps: 0, lastPulled: -1, depth: searchDepth },
  ];
  let best = { node: stack[0] as Node, score: -1 };
  for (let node = stack.pop(); node; node = stack.pop()) {
    const depth = node.depth - 1;
    if (depth <= 0 || seen.size >= MAX_STATES) continue;
    const key = Buffer.from(node.state.buffer).toString("latin1");
    if (seen.has(key)) continue;
    const isUncovered = countOf(node.state, Cell.target) === targets.length;
    const score = isUncovered ? node.swaps * distance(node.boxes) : 0;
    if (score > best.score) best = { node, score };
    seen.add(key);
    if (seen.size % STATES_PER_TURN === 0) await setImmediate();
    for (const step of [-columns, columns, -1, 1]) {
      const next = pull(node, step, fixed);
      if (next) stack.push({ ...next, depth });
    }
  }
  const settled = best.node.state.map((cell) => (cell === Cell.boxOnTarget ? Cell.box : cell));
  return { state: settled, displacement: distance(best.node.boxes) };
}

/** A step of the player that pulls the box behind it, if any. Undefined if the way is blocked. */
function pull(node: Node, step: number, fixed: Uint8Array): Node | undefined {
  const { player } = node;
  const ahead = node.state[player + step];
  if (ahead !== Cell.floor && ahead !== Cell.target) return undefined;
  const state = node.state.slice();
  state[player] = fixed[player] ?? Cell.floor;
  state[player + step] = Cell.player;
  const behind = player - step;
  const moved = { ...node, state, player: player + step };
  if (state[behind] !== Cell.box && state[behind] !== Cell.boxOnTarget) return moved;
  state[player] = Cell.boxOnTarget;
  state[behind] = fixed[behind] ?? Cell.floor;
  const lastPulled = node.boxes.indexOf(behind);
  const boxes = node.boxes.with(lastPulled, player);
  return { ...moved, boxes, lastPulled, swaps: node.swaps + Number(lastPulled !== node.lastPulled) };
}

/** Lets the player walk a few steps, so that it does not stand next to the box. */
function walk({ columns, fixed, state }: Room, probability: number, random: PyRandom): void {
  if (random.random() > probability) return;
  let player = state.indexOf(Cell.player);
  const visited = new Set([player]);
  for (let count = 1; count <= MAX_WALK; count++) {
    const free = [-columns, columns, -1, 1]
      .map((step) => player + step)
      .filter((at) => (state[at] === Cell.floor || state[at] === Cell.target) && !visited.has(at));
    if (free.length === 0) return;
    state[player] = fixed[player] ?? Cell.floor;
    player = random.choice(free);
    state[player] = Cell.player;
    visited.add(player);
    if (count === MAX_WALK || random.random() > 0.5) return;
  }
}

export function countOf(cells: Uint8Array, cell: number): number {
  let count = 0;
  for (const found of cells) if (found === cell) count++;
  return count;
}
