import { defineGymnasiumServer, HttpError } from "nemo-gym";
import { laxBool, laxInt, outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { Game } from "./game.ts";

const Task = {
  framework: z.string().regex(/^[a-z_]+$/),
  task_no: laxInt(),
  seed: laxInt(),
  split: z.string(),
  max_episode_steps: laxInt(),
};

interface Episode {
  game: Game;
  framework: string;
  maxSteps: number;
  score: number;
  total: number;
  steps: number;
}

/** Text adventures of TALES: the model's text is the command. */
export default defineGymnasiumServer({
  config: z.object({
    expose_admissible_commands: laxBool().default(false),
    framework: Task.framework.default("textworld"),
    task_no: Task.task_no.default(0),
    seed: Task.seed.default(0),
    split: Task.split.default("train"),
    max_episode_steps: Task.max_episode_steps.default(25),
    /** The Python that has the package `tales`. */
    python: z.string().default("python3"),
    /** Folders in which it looks for modules first. */
    python_path: z.array(z.string()).default([]),
    /** Time limit of one reply of a game, in seconds. */
    game_timeout: z.number().positive().default(60),
  }),
  row: z.looseObject({
    framework: Task.framework.nullish(),
    task_no: Task.task_no.nullish(),
    seed: Task.seed.nullish(),
    split: Task.split.nullish(),
    max_episode_steps: Task.max_episode_steps.nullish(),
  }),
  start: ({ directory }) => ({ directory }),
  async reset({ row, config, state, signal }) {
    const framework = row.framework ?? config.framework;
    const { game, observation, info } = await Game.launch(
      {
        framework,
        task_no: row.task_no ?? config.task_no,
        split: row.split ?? config.split,
        seed: row.seed ?? config.seed,
      },
      {
        python: config.python,
        pythonPath: config.python_path,
        directory: state.directory,
        timeoutMs: config.game_timeout * 1000,
      },
      signal,
    );
    const maxSteps = row.max_episode_steps ?? config.max_episode_steps;
    const session: Episode = { game, framework, maxSteps, score: 0, total: 0, steps: 0 };
    return { session, observation, info: shown(info, config) };
  },
  unseeded(): Episode {
    throw new HttpError(400, "There is no game in this session: call /reset first.");
  },
  async step({ response, session: episode, config, signal }) {
    const { observation, score, done, info } = await episode.game.step(strip(outputText(response)), signal);
    // As in the original: only TextWorld's score is turned into what the step earned.
    const reward = episode.framework === "textworld" ? score - episode.score : score;
    episode.score = score;
    episode.total += reward;
    episode.steps++;
    return {
      observation,
      reward,
      terminated: done,
      truncated: !done && episode.steps >= episode.maxSteps,
      info: { ...shown(info, config), score, total_score: episode.total, step_count: episode.steps },
    };
  },
  closeSession: ({ session }) => session.game.close(),
});

function shown(info: Record<string, unknown>, config: { expose_admissible_commands: boolean }) {
  const { admissible_commands: commands, ...rest } = info;
  return config.expose_admissible_commands && commands !== undefined
    ? { ...rest, admissible_commands: commands }
    : rest;
}
