import { randomUUID } from "node:crypto";
import path from "node:path";
import { Deadline, defineResourcesServer, type JsonObject } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics, tokenCounts } from "nemo-gym/metrics";
import { laxBool, laxFloat, laxInt, outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { Batches, type CallApi, fenced, httpApi, ScoringError } from "./batches.ts";

const Config = z.object({
  api_url: z.string().min(1),
  /** A key of the service, or several. */
  api_key: z
    .union([z.string(), z.array(z.string())])
    .nullish()
    .transform((keys) => [keys ?? []].flat().filter((key) => key.trim() !== ""))
    .refine((keys) => keys.length > 0, {
      message: "needs a key of the scoring service; the config file reads ARTIFICIAL_ANALYSIS_API_KEY",
    }),
  batch_size: laxInt().pipe(z.number().min(1)).default(70),
  /** Submissions after which a batch is sent; missing ones are filled up. Default: batch_size. */
  fire_after: laxInt().nullish(),
  api_timeout_seconds: laxFloat().default(1800),
  api_max_retries: laxInt().default(4),
  api_retry_backoff_seconds: laxFloat().default(5),
  /** How long a rollout waits for its batch. */
  verify_timeout_seconds: laxFloat().default(9000),
  /** Records submissions and replies there. */
  cache_dir: z.string().nullish(),
  unique_cache_per_run: laxBool().default(true),
});

const FENCE = /```(?:python)?\s*\n(.*?)\n```/gs;

/** Problems of research physics. A service scores a whole batch; each rollout gets the accuracy of its batch. */
export const critpt = (api: (url: string) => CallApi) =>
  defineResourcesServer({
    config: Config,
    row: z.looseObject({ problem_id: z.string() }),
    echo: ["problem_id"],
    reverifyMode: "unsupported",
    metrics: {
      compute: (tasks) =>
        passMajorityMetrics(tasks, {
          scores: ({ accuracy }): Record<string, number> =>
            accuracy == null ? {} : { accuracy: Number(accuracy) },
          answerField: "problem_id",
        }).metrics,
      key: (all): JsonObject => ({
        ...tokenCounts(all),
        ...highestKMetrics(all, "pass@1[avg-of-{k}]"),
        ...highestKMetrics(all, "pass@{k}"),
        ...highestKMetrics(all, "majority@{k}"),
      }),
    },
    start({ config, findFile }) {
      const base = config.cache_dir ?? process.env["CRITPT_CACHE_DIR"];
      return new Batches(api(config.api_url), {
        keys: config.api_key,
        batchSize: config.batch_size,
        fireAfter: config.fire_after || config.batch_size,
        timeoutSeconds: config.api_timeout_seconds,
        maxRetries: config.api_max_retries,
        backoffSeconds: config.api_retry_backoff_seconds,
        ...(base && {
          directory: path.join(findFile(base), config.unique_cache_per_run ? randomUUID() : ""),
        }),
      });
    },
    stop: (_server, batches) => batches.stop(),
    unseeded: () => undefined,
    tools: {
      status: {
        expose: false,
        run: ({ state, config }) => ({ pending_batches: state.pendingSizes, batch_size: config.batch_size }),
      },
    },
    async verify({ config, row, response, state: batches, signal }) {
      const text = outputText(response);
      const code = strip([...text.matchAll(FENCE)].at(-1)?.[1] ?? text);
      const deadline = new Deadline(config.verify_timeout_seconds * 1000, signal);
      try {
        const submission = { problem_id: row.problem_id, generated_code: fenced(code) };
        const { accuracy, timeout_rate } = await deadline.race(batches.submit(submission));
        return { reward: accuracy, accuracy, timeout_rate };
      } catch (error) {
        if (!deadline.passed) throw error;
        throw new ScoringError(
          `The batch of this rollout was not scored within ${config.verify_timeout_seconds} s. A batch needs ${config.fire_after || config.batch_size} rollouts at the same time; run with at least that --concurrency.`,
        );
      } finally {
        deadline.clear();
      }
    },
  });

export default critpt(httpApi);
