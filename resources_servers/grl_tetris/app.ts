import { randomInt } from "node:crypto";
import { defineGymnasiumServer, HttpError } from "nemo-gym";
import { laxInt, outputText } from "nemo-gym/openai";
import { PyRandom } from "nemo-gym/python";
import { z } from "zod";
import {
  drawPieces,
  type Game,
  observe,
  type Piece,
  type PieceSettings,
  play,
  playUnknown,
  readActions,
  startGame,
} from "./game.ts";

const settings = { dim_x: laxInt(), dim_y: laxInt(), box_type: z.json() };
const optional = z.looseObject(settings).partial();
const defaults = { dim_x: 4, dim_y: 4, box_type: 3 };

const Row = z.looseObject({
  ...optional.shape,
  seed: laxInt().nullish(),
  action_lookup: z.record(z.string(), z.unknown()).optional(),
});

/** Draws the pieces of a game in advance. */
export type PieceSource = (settings: PieceSettings, seed: number) => readonly Piece[];

/** A small Tetris: the model moves the falling piece, and a full line ends the game. */
export function defineTetris(piecesOf: PieceSource) {
  return defineGymnasiumServer({
    config: z.object({ env_config: optional.default({}) }),
    row: Row,
    seed: z.looseObject({ seed: laxInt() }),
    reset({ config, row }) {
      const { dim_x, dim_y, box_type } = { ...defaults, ...config.env_config, ...given(row) };
      const isTooNarrow = dim_x < 2 && (box_type === 2 || box_type === 3);
      if (dim_x < 1 || dim_y < 1 || isTooNarrow)
        throw new HttpError(422, "The board is too small for the pieces.");
      const pieces = piecesOf(
        { width: dim_x, height: dim_y, boxType: box_type },
        row.seed ?? randomInt(2 ** 32),
      );
      const game = startGame(dim_x, dim_y, pieces);
      return { session: game, observation: observe(game) };
    },
    keepFinished: true,
    unseeded(): Game {
      throw new HttpError(400, "There is no game in this session: call /reset first.");
    },
    step({ row, response, session: game }) {
      if (game.over) return { ...game.over, terminated: true };
      const text = outputText(response);
      const actions = readActions(text);
      const reply = row.action_lookup
        ? playUnknown(game, text, row.action_lookup)
        : actions.length > 0 && play(game, actions);
      if (!reply) throw malformedAnswer();
      return reply;
    },
  });
}

function given({ dim_x, dim_y, box_type }: z.infer<typeof Row>): typeof defaults {
  const fields = Object.entries({ dim_x, dim_y, box_type });
  return Object.fromEntries(fields.filter(([, value]) => value !== undefined)) as typeof defaults;
}

export default defineTetris((settings, seed) => drawPieces(settings, new PyRandom(seed)));

/** 400 as in the original; an agent that knows the class ends the game and keeps its reward. */
function malformedAnswer(): HttpError {
  const message = "The answer contains no move such as <action>Down</action>.";
  const failure = { class: "malformed_answer", stage: "tool", retryable: false, message } as const;
  return new HttpError(400, message, { failure });
}
