import { readFile } from "node:fs/promises";
import path from "node:path";
import { defineGymnasiumServer, HttpError } from "nemo-gym";
import { functionCalls, laxInt } from "nemo-gym/openai";
import { dumps, isObject, loadsPlain, strip } from "nemo-gym/python";
import { z } from "zod";
import { createGame, describe, type Game, submitGuess } from "./game.ts";

const Config = z.object({
  /** Words that may be guessed, one per line; lines that begin with `#` are skipped. */
  guesses_path: z.string().default("data/guesses.txt"),
  /** The words themselves, instead of a file. */
  guesses: z.array(z.string()).optional(),
});

/** Wordle: the model guesses a word with tool calls. */
export default defineGymnasiumServer({
  config: Config,
  row: z.looseObject({
    custom_target: z.string().nullish(),
    word_length: laxInt().default(5),
    max_turns: laxInt().default(6),
  }),
  seed: z.looseObject({ custom_target: z.string() }),
  async start({ config, directory }) {
    const { guesses = await readWords(path.resolve(directory, config.guesses_path)) } = config;
    return { words: new Set(guesses.map((word) => strip(word).toLowerCase())) };
  },
  reset({ row, state: { words } }) {
    const target = row.custom_target?.toLowerCase() ?? "";
    if (target.length !== row.word_length || !words.has(target)) {
      throw new HttpError(
        400,
        `custom_target must be a word of the list with ${row.word_length} letters, not '${target}'.`,
      );
    }
    return { session: createGame(target, row.max_turns) };
  },
  unseeded(): Game {
    throw new HttpError(400, "There is no game in this session: call /reset first.");
  },
  step({ response, session: game, state: { words } }) {
    const tool_outputs = functionCalls(response).map(({ call_id, name, arguments: given }) => ({
      call_id,
      output: dumps(callTool(game, name, given, words)),
    }));
    const isOver = game.state !== "open";
    const info = {
      game_outcome: { open: "incomplete", won: "win", lost: "loss" }[game.state],
      turns_used: game.turn,
      won: Number(game.state === "won"),
      turns_if_won: game.state === "won" ? game.turn : 0,
    };
    if (!isOver && tool_outputs.length > 0) return { info: { ...info, tool_outputs } };
    return { reward: Math.max(game.total, 0), terminated: true, info };
  },
});

async function readWords(file: string): Promise<string[]> {
  const lines = (await readFile(file, "utf8")).split("\n");
  return lines.filter((line) => line.trim() !== "" && !line.startsWith("#"));
}

function callTool(game: Game, name: string, given: string, words: ReadonlySet<string>): object {
  if (name !== "submit_guess" && name !== "check_word_validity" && name !== "get_game_state")
    return { error: `Unknown tool: ${name}` };
  const args = readArguments(given);
  if (!args) return { error: `Invalid arguments for ${name}: not a JSON object` };
  if (name === "get_game_state") return describe(game);
  const field = name === "submit_guess" ? "guess" : "word";
  const word = args[field];
  if (typeof word !== "string")
    return { error: `Invalid arguments for ${name}: '${field}' must be a string` };
  const normal = strip(word.toLowerCase());
  return name === "submit_guess" ? submitGuess(game, normal, words) : checkWord(game, normal, words);
}

function readArguments(text: string): Record<string, unknown> | undefined {
  if (text === "") return {};
  try {
    const value = loadsPlain(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function checkWord({ target }: Game, word: string, words: ReadonlySet<string>) {
  if (word.length !== target.length)
    return { valid: false, reason: `Word must be ${target.length} letters, got ${word.length}` };
  if (!/^\p{L}+$/u.test(word)) return { valid: false, reason: "Word must contain only letters" };
  return words.has(word)
    ? { valid: true, reason: "Valid word" }
    : { valid: false, reason: `'${word}' is not a valid English word` };
}
