import path from "node:path";
import { HttpError } from "nemo-gym";
import { z } from "zod";
import { PythonProgram, PythonProgramError } from "../../libraries/python-program/python-program.ts";

const Launched = z.object({ observation: z.string(), info: z.record(z.string(), z.unknown()) });
const Stepped = Launched.extend({ score: z.number(), done: z.boolean() });

export interface GameOptions {
  python: string;
  /** Folders in which Python looks for modules first. */
  pythonPath: readonly string[];
  directory: string;
  timeoutMs: number;
}

/** One game in a Python process of its own. */
export class Game {
  readonly #program: PythonProgram;

  private constructor({ directory, ...options }: GameOptions) {
    this.#program = new PythonProgram({ ...options, file: path.join(directory, "games.py") });
  }

  static async launch(task: object, options: GameOptions, signal: AbortSignal) {
    const game = new Game(options);
    try {
      return { game, ...Launched.parse(await game.#ask(task, signal)) };
    } catch (error) {
      game.close();
      if (!(error instanceof GameError || error instanceof PythonProgramError)) throw error;
      throw new HttpError(400, `The game cannot start: ${error.message}`);
    }
  }

  async step(command: string, signal: AbortSignal) {
    return Stepped.parse(await this.#ask({ command }, signal));
  }

  close(): void {
    this.#program.close();
  }

  async #ask(request: object, signal: AbortSignal) {
    const reply = await this.#program.ask(request, signal);
    if (typeof reply["error"] === "string") throw new GameError(reply["error"]);
    return reply;
  }
}

/** The game or its library failed. */
class GameError extends Error {}
