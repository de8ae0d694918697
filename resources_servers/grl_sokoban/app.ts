import { randomInt } from "node:crypto";
import { defineGymnasiumServer, HttpError } from "nemo-gym";
import { laxInt, outputText } from "nemo-gym/openai";
import { z } from "zod";
import { type Game, observe, play, readAction, SYMBOLS } from "./game.ts";
import { createRoom, RoomError } from "./room.ts";

const Settings = z.looseObject({
  dim_room: z.tuple([laxInt(), laxInt()]),
  max_steps: laxInt(),
  num_boxes: laxInt(),
  search_depth: laxInt(),
});

const Row = z.looseObject({
  ...Settings.partial().shape,
  seed: laxInt().nullish(),
  /** JSON keys are texts, so a lookup of a row never matches. */
  grid_lookup: z.unknown().optional(),
  action_lookup: z.unknown().optional(),
});

const defaults = { dim_room: [6, 6] as [number, number], max_steps: 100, num_boxes: 1, search_depth: 100 };

/** Sokoban: the model pushes boxes onto targets, one move per turn. */
export default defineGymnasiumServer({
  config: z.object({ env_config: Settings.partial().default({}) }),
  row: Row,
  seed: z.looseObject({ seed: laxInt() }),
  async reset({ config, row }) {
    const settings = { ...defaults, ...config.env_config, ...present(row) };
    const [rows, columns] = settings.dim_room;
    const { num_boxes: boxes, search_depth: searchDepth, max_steps: maxSteps } = settings;
    const seed = row.seed ?? randomInt(2 ** 32);
    if (seed < 0 || seed >= 2 ** 32) throw new HttpError(422, "seed must be from 0 to 4294967295.");
    const room = await createRoom({ rows, columns, boxes, searchDepth, seed }).catch(reject);
    const symbols = row.grid_lookup === undefined ? SYMBOLS : [];
    const game: Game = { room, boxes, maxSteps, symbols, steps: 0, onTarget: 0, total: 0 };
    return { session: game, observation: observe(game) };
  },
  keepFinished: true,
  unseeded(): Game {
    throw new HttpError(400, "There is no game in this session: call /reset first.");
  },
  step({ row, response, session: game }) {
    if (game.over) return { ...game.over, terminated: true };
    const action = row.action_lookup === undefined ? readAction(outputText(response)) : undefined;
    if (action === undefined) throw malformedAnswer();
    return play(game, action);
  },
});

function present(row: z.infer<typeof Row>) {
  const { dim_room, max_steps, num_boxes, search_depth } = row;
  const given = Object.entries({ dim_room, max_steps, num_boxes, search_depth });
  return Object.fromEntries(given.filter(([, value]) => value !== undefined)) as typeof defaults;
}

function reject(error: unknown): never {
  throw error instanceof RoomError ? new HttpError(400, error.message) : error;
}

/** 400 as in the original; an agent that knows the class ends the game and keeps its reward. */
function malformedAnswer(): HttpError {
  const message = "The answer contains no move.";
  const failure = { class: "malformed_answer", stage: "tool", retryable: false, message } as const;
  return new HttpError(400, message, { failure });
}
