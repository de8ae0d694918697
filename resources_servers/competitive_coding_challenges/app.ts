import { allAssistantText, defineResourcesServer, perServer, type ServerContext } from "nemo-gym";
import { laxFloat, laxInt } from "nemo-gym/openai";
import { z } from "zod";
import { competitionMetrics } from "./metrics.ts";
import { problemsOf } from "./problems.ts";
import { Programs, programsConfig } from "./programs.ts";
import { binaryReward, fractionReward, grade, unknownAggregation } from "./score.ts";

/** Rows that allow this many seconds in total were measured on machines of half the speed. */
const LONG_TOTAL_SECONDS = 300;

const Config = z.object({
  ...programsConfig,
  /** The problems: a JSONL file in the folder of the server, or at a path of the project. */
  test_file: z.string().default("data/test_metadata.jsonl"),
  test_batch_size: laxInt().pipe(z.number().min(1)).default(32),
  /** Multiplies the time limits of the problems. */
  time_scale: laxFloat().default(2),
  /** `binary`: all points of the subtask or problem. `fraction`: the share of tests that passed. */
  reward_mode: z.enum(["binary", "fraction"]).default("binary"),
  /** Keys of the original without effect: programs run in sandboxes (`max_parallel` limits them). */
  num_parallel_requests: z.unknown().optional(),
  shared_dir: z.unknown().optional(),
});
type Config = z.output<typeof Config>;

const Row = z.looseObject({
  problem_id: z.string(),
  competition_id: z.string().nullish(),
  subtask: z.string().nullish(),
  name: z.string().nullish(),
  subtask_score: laxFloat().nullish(),
  total_time: laxFloat().nullish(),
});

const NO_TIME = { total_test_execution_time_s: 0, mean_test_execution_time_s: 0 };

const programsOf = perServer((server: ServerContext<Config>) => new Programs(server));

/** Problems of programming competitions with their own graders, scored by subtasks. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  reverifyMode: "stateless",
  metrics: (config) => competitionMetrics(() => problemsOf(config)),
  start: (server) => problemsOf(server.config, server),
  async verify({ config, row, response, server, state: problems, sessionId, signal }) {
    const { problem_id: id, competition_id = null, subtask = null } = row;
    const name = row.name ?? id;
    const about = { name, subtask, competition_id, subtask_score: row.subtask_score ?? null };
    const failed = (error: string) => ({
      reward: 0,
      ...about,
      details: { error },
      num_tests_run: 0,
      ...NO_TIME,
    });
    const problem = problems.find(id, competition_id);
    if (typeof problem === "string") return failed(problem);
    const unknown = unknownAggregation(problem);
    if (unknown !== undefined) return failed(`The aggregation '${unknown}' is unknown.`);
    const timeScale = (row.total_time ?? 0) > LONG_TOTAL_SECONDS ? config.time_scale / 2 : config.time_scale;
    const task = { id, problem, answer: allAssistantText(response), timeScale };
    const all = config.reward_mode === "fraction";
    const { results, seconds } = await programsOf(server).withCompiled(
      task,
      { key: sessionId, signal },
      (compiled) => grade(problem, compiled, { subtask, batchSize: config.test_batch_size, all }),
    );
    const run = seconds.length;
    const total = seconds.reduce((sum, each) => sum + each, 0);
    const reward = all
      ? fractionReward(results, subtask)
      : binaryReward(problem, results, subtask, row.subtask_score);
    return {
      reward,
      ...about,
      details: { name, subtask, test_case_results: results, num_tests_run: run },
      num_tests_run: run,
      ...{ total_test_execution_time_s: total, mean_test_execution_time_s: run === 0 ? 0 : total / run },
    };
  },
});
