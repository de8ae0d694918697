import { SPACE_CLASS, strip } from "nemo-gym/python";
import { Cell, countOf, type Room } from "./room.ts";

export const ACTIONS = ["Up", "Down", "Left", "Right"] as const;
export type Action = 1 | 2 | 3 | 4;

export interface Game {
  room: Room;
  boxes: number;
  maxSteps: number;
  /** The characters of the cells; the last is a player on a target. */
  symbols: readonly string[];
  steps: number;
  onTarget: number;
  total: number;
  /** The last answer of a game that is over. */
  over?: { observation: string; info: Record<string, unknown> };
}

export const SYMBOLS = ["#", "_", "O", "√", "X", "P", "S"] as const;
const STEP = -0.1;
const FINISHED = 10;

const space = `[${SPACE_CLASS}]*`;
const TAG = new RegExp(`<action>${space}(up|down|left|right|[1-4])${space}</action>`, "iu");
const WORD = /(?<![\p{L}\p{N}_])(up|down|left|right|[1-4])(?![\p{L}\p{N}_])/iu;

/** The move in a text: in a tag, else the first word that is one. */
export function readAction(text: string): Action | undefined {
  const token = (TAG.exec(strip(text)) ?? WORD.exec(strip(text)))?.[1]?.toLowerCase();
  if (token === undefined) return undefined;
  const index = ACTIONS.findIndex((label) => label.toLowerCase() === token);
  return (index < 0 ? Number(token) : index + 1) as Action;
}

/** Moves the player, and pushes a box if one is in the way. */
export function play(game: Game, action: Action) {
  const { room } = game;
  const { columns, state, fixed } = room;
  const step = [-columns, columns, -1, 1][action - 1] ?? 0;
  const player = state.indexOf(Cell.player);
  const ahead = player + step;
  const beyond = ahead + step;
  const isFree = (at: number) => state[at] === Cell.floor || state[at] === Cell.target;
  if ((state[ahead] === Cell.box || state[ahead] === Cell.boxOnTarget) && isFree(beyond)) {
    state[beyond] = fixed[beyond] === Cell.target ? Cell.boxOnTarget : Cell.box;
    state[ahead] = fixed[ahead] ?? Cell.floor;
  }
  const moved = isFree(ahead);
  if (moved) {
    state[player] = fixed[player] ?? Cell.floor;
    state[ahead] = Cell.player;
  }
  game.steps++;
  const { reward, isSolved } = rewardOf(game);
  game.total += reward;
  const info = {
    action_is_effective: moved,
    action_is_valid: true,
    success: isSolved,
    action_id: action,
    action_label: ACTIONS[action - 1],
    total_reward: game.total,
  };
  const terminated = isSolved || game.steps === game.maxSteps;
  if (terminated) game.over = { observation: draw(game), info };
  return { observation: terminated ? draw(game) : observe(game), reward, terminated, info };
}

function rewardOf(game: Game): { reward: number; isSolved: boolean } {
  const { state, fixed } = game.room;
  const isHidden = fixed[state.indexOf(Cell.player)] === Cell.target;
  const empty = countOf(state, Cell.target) + Number(isHidden);
  const onTarget = game.boxes - empty;
  const change = Math.sign(onTarget - game.onTarget);
  game.onTarget = onTarget;
  return { reward: STEP + change + (empty === 0 ? FINISHED : 0), isSolved: empty === 0 };
}

/** The board as lines of characters. */
function draw({ room, symbols }: Game): string {
  const { rows, columns, state, fixed } = room;
  const lines = Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (__, column) => {
      const at = row * columns + column;
      const isOnTarget = state[at] === Cell.player && fixed[at] === Cell.target;
      return symbols[isOnTarget ? 6 : (state[at] ?? 0)] ?? "?";
    }).join(""),
  );
  return lines.join("\n");
}

/** What the player sees. */
export function observe(game: Game): string {
  return [
    `Sokoban board:\n${draw(game)}\n`,
    "Legend: #=wall, _=floor, O=target, X=box, √=box on target, P=player, S=player on target.",
    "Respond with exactly one move using <action>Up</action>, <action>Down</action>, <action>Left</action>, or <action>Right</action>.",
  ].join("\n");
}
