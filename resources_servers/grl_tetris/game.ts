import { type PyRandom, SPACE_CLASS } from "nemo-gym/python";

type Point = readonly [x: number, y: number];
/** Cells relative to the anchor: x to the right, y down. */
type Shape = readonly Point[];

export interface Piece {
  anchor: Point;
  shape: Shape;
}

export interface Game {
  width: number;
  height: number;
  /** Settled cells, by row. */
  board: boolean[][];
  /** The pieces still to come. */
  pieces: Piece[];
  piece: Piece;
  total: number;
  /** The last answer of a game that is over. */
  over?: { observation: string; info: MoveInfo };
}

type MoveInfo = Record<string, unknown>;

export const ACTIONS = ["Left", "Right", "Down"] as const;
const MOVES: readonly Point[] = [
  [-1, 0],
  [1, 0],
  [0, 1],
];
const STEP = -0.1;
const LINE = 10;

const DOT: Shape = [[0, 0]];
const TALL: Shape = [
  [0, 0],
  [0, -1],
];
const WIDE: Shape = [
  [0, 0],
  [-1, 0],
];
const SQUARE: Shape = [
  [0, 0],
  [-1, 0],
  [0, -1],
  [-1, -1],
];
const shapesOf = (boxType: unknown): readonly Shape[] =>
  boxType === 2 ? [TALL, WIDE] : boxType === 3 ? [TALL, WIDE, SQUARE] : [DOT];

export interface PieceSettings {
  width: number;
  height: number;
  boxType: unknown;
}

/** Draws the pieces of a game. Shapes that came less often are likelier. */
export function drawPieces({ width, height, boxType }: PieceSettings, random: PyRandom): Piece[] {
  const shapes = shapesOf(boxType);
  const counts = shapes.map(() => 0);
  return Array.from({ length: width * height + 1 }, () => {
    const weights = counts.map((count) => 5 + Math.max(...counts) - count);
    let rest = random.int(
      1,
      weights.reduce((sum, weight) => sum + weight, 0),
    );
    const index = weights.findIndex((weight) => {
      rest -= weight;
      return rest <= 0;
    });
    counts[index] = (counts[index] ?? 0) + 1;
    const shape = shapes[index] ?? DOT;
    const isWide = shape.some(([x]) => x < 0);
    return { anchor: [random.int(isWide ? 1 : 0, width - 1), 0], shape };
  });
}

export function startGame(width: number, height: number, pieces: readonly Piece[]): Game {
  const [piece, ...rest] = pieces;
  if (!piece) throw new RangeError("a game needs a piece");
  const board = Array.from({ length: height }, () => Array<boolean>(width).fill(false));
  return { width, height, board, pieces: rest, piece, total: 0 };
}

const space = `[${SPACE_CLASS}]*`;
const TAG = new RegExp(`<action>${space}(left|right|down|[0-2])${space}</action>`, "giu");

const tokensOf = (text: string): string[] =>
  Array.from(text.matchAll(TAG), ([, token = ""]) => token.toLowerCase());

/** The moves in a text, in order. */
export function readActions(text: string): number[] {
  return tokensOf(text).map((token) => {
    const index = ACTIONS.findIndex((label) => label.toLowerCase() === token);
    return index < 0 ? Number(token) : index;
  });
}

/**
 * Ends a game whose row brings its own `action_lookup`: JSON keys are texts, so a label names no valid action, as in the
 * original. Undefined if the text has no label of the lookup.
 */
export function playUnknown(game: Game, text: string, lookup: Record<string, unknown>) {
  const labels = Object.entries(lookup).map(([id, label]) => ({ id, label: String(label) }));
  const token = tokensOf(text).find((found) => labels.some(({ label }) => label.toLowerCase() === found));
  const action = labels.findLast(({ label }) => label.toLowerCase() === token);
  if (!action) return undefined;
  const info = { error: "Invalid action" };
  game.over = { observation: draw(game), info };
  const applied = { action_id: action.id, action_label: action.label, reward: 0, info };
  const details = { ...info, total_reward: game.total, num_actions_applied: 1, actions: [applied] };
  return { observation: draw(game), reward: 0, terminated: true, info: details };
}

/** Makes the moves until the game is over. */
export function play(game: Game, actions: readonly number[]) {
  let reward = 0;
  let last: MoveInfo | undefined;
  const applied: object[] = [];
  for (const action of actions) {
    const move = makeMove(game, action);
    reward += move.reward;
    game.total += move.reward;
    last = move.info;
    applied.push({ action_id: action, action_label: ACTIONS[action], reward: move.reward, info: move.info });
    if (!move.isOver) continue;
    game.over = { observation: draw(game), info: move.info };
    break;
  }
  const info = { ...last, total_reward: game.total, num_actions_applied: applied.length, actions: applied };
  return {
    observation: game.over?.observation ?? observe(game),
    reward,
    terminated: game.over !== undefined,
    info,
  };
}

function makeMove(game: Game, action: number) {
  const { piece } = game;
  const [x, y] = piece.anchor;
  const [dx, dy] = MOVES[action] ?? [0, 0];
  if (!collides(game, piece.shape, [x + dx, y + dy])) game.piece = { ...piece, anchor: [x + dx, y + dy] };
  const dropped = hasDropped(game);
  let lines = 0;
  let isFull = false;
  if (dropped) {
    lines = settle(game);
    isFull = game.board[0]?.some(Boolean) ?? false;
    // A game has as many pieces as cells and one more, so there is always another.
    if (!isFull) game.piece = game.pieces.shift() ?? game.piece;
  }
  const [newX, newY] = game.piece.anchor;
  const info = {
    action_is_effective: newX !== x || newY !== y,
    action_is_valid: true,
    success: lines > 0,
    dropped,
  };
  return { reward: STEP + lines * LINE, isOver: isFull || lines > 0, info };
}

function collides({ board, width, height }: Game, shape: Shape, [x, y]: Point): boolean {
  return shape.some(([dx, dy]) => {
    const [column, row] = [x + dx, y + dy];
    if (row < 0) return false;
    return column < 0 || column >= width || row >= height || board[row]?.[column] === true;
  });
}

function hasDropped(game: Game): boolean {
  const [x, y] = game.piece.anchor;
  return collides(game, game.piece.shape, [x, y + 1]);
}

/** Fixes the piece and clears full rows; returns how many. */
function settle(game: Game): number {
  for (const [x, y] of cellsOf(game)) (game.board[y] as boolean[])[x] = true;
  const left = game.board.filter((row) => !row.every(Boolean));
  const lines = game.height - left.length;
  const empty = Array.from({ length: lines }, () => Array<boolean>(game.width).fill(false));
  game.board = [...empty, ...left];
  return lines;
}

/** The cells of the falling piece that are on the board. */
function cellsOf({ piece, width, height }: Game): Point[] {
  const [x, y] = piece.anchor;
  const cells = piece.shape.map(([dx, dy]): Point => [x + dx, y + dy]);
  return cells.filter(([column, row]) => column >= 0 && column < width && row >= 0 && row < height);
}

function draw(game: Game): string {
  const lines = game.board.map((row) => row.map((cell) => (cell ? "#" : "_")));
  for (const [x, y] of cellsOf(game)) (lines[y] as string[])[x] = "X";
  return lines.map((line) => line.join("")).join("\n");
}

/** What the player sees. */
export function observe(game: Game): string {
  return [
    `Tetris board:\n${draw(game)}\n`,
    "Legend: _=empty, #=settled block, X=falling piece.",
    "Respond with one or more moves using <action>Left</action>, <action>Right</action>, or <action>Down</action>. Multiple action tags in one turn are applied in order.",
  ].join("\n");
}
