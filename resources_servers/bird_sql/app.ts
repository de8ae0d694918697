import path from "node:path";
import { defineResourcesServer, perServer, type ServerContext } from "nemo-gym";
import { highestKMetrics, passMajorityMetrics, subsetMetrics } from "nemo-gym/metrics";
import { laxInt, outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { type QueryOutcome, QueryRunner, queryConfig } from "../../libraries/sql-answers/run-queries.ts";

const Config = z.object({
  ...queryConfig,
  /** Has `dev_20240627/dev_databases/<db_id>/<db_id>.sqlite`. */
  bird_sql_dir: z.string(),
});
type Config = z.output<typeof Config>;

/** Needs a letter, so that an empty fence does not count. */
const SQL_FENCE = /```sql\b(.*?[a-zA-Z].*?)```/gis;
const BOLD_TITLE = /^\s*\*\*.*?\*\*/s;

const partsOf = perServer((server: ServerContext<Config>) => {
  const directory = server.findFile(server.config.bird_sql_dir);
  return { directory, queries: new QueryRunner(server, directory, "compare.py") };
});

const scoring = {
  scores: ({ reward }: Record<string, unknown>) => ({ accuracy: Number(reward) }),
  answerField: "extracted_sql",
};

/** Questions about a database: the query of the answer must return the rows of the reference query. */
export default defineResourcesServer({
  config: Config,
  row: z.looseObject({
    question: z.string(),
    gt_sql: z.string(),
    /** The name of a database; it becomes part of a path. */
    db_id: z
      .string()
      .regex(/^[^/\0]+$/)
      .refine((name) => !/^\.+$/.test(name)),
    difficulty: z.string().nullish(),
    id: laxInt().nullish(),
  }),
  reverifyMode: "stateless",
  metrics: {
    compute: (tasks) => ({
      ...passMajorityMetrics(tasks, scoring).metrics,
      ...subsetMetrics(tasks, "difficulty", scoring),
    }),
    key: (all) => ({
      ...highestKMetrics(all, "pass@1[avg-of-{k}]"),
      ...highestKMetrics(all, "pass@{k}"),
      ...highestKMetrics(all, "majority@{k}"),
    }),
  },
  start: (server) => {
    partsOf(server);
  },
  stop: (server) => partsOf(server).queries.close(),
  async verify({ row, response, server, sessionId, signal }) {
    const model_output = outputText(response);
    const sql = extractSql(model_output);
    const about = {
      ...{ difficulty: row.difficulty ?? null, id: row.id ?? null },
      ...{ model_output, extracted_sql: sql, had_codeblock: sql !== null },
    };
    if (sql === null)
      return { reward: 0, ...about, execution_match: false, failure_reason: "no_sql_extracted" };
    const { directory, queries } = partsOf(server);
    const database = path.join(
      ...[directory, "dev_20240627", "dev_databases", row.db_id, `${row.db_id}.sqlite`],
    );
    const outcome = await queries.run({ database, expected: row.gt_sql, answer: sql }, { sessionId, signal });
    const failure_reason = reasonOf(outcome);
    const execution_match = failure_reason === "none";
    return { reward: execution_match ? 1 : 0, ...about, execution_match, failure_reason };
  },
});

function extractSql(text: string): string | null {
  const [, block] = [...text.matchAll(SQL_FENCE)].at(-1) ?? [];
  return block === undefined ? null : strip(block.replace(BOLD_TITLE, ""));
}

function reasonOf(outcome: QueryOutcome): string {
  if ("same" in outcome) return outcome.same ? "none" : "result_mismatch";
  const reason = `execution_${outcome.status}`;
  return outcome.failed === "expected" ? `gold_${reason}` : reason;
}
