import path from "node:path";
import { defineResourcesServer, HttpError, perServer, type ServerContext } from "nemo-gym";
import { laxBool, outputText } from "nemo-gym/openai";
import { z } from "zod";
import { extractSql } from "../../libraries/sql-answers/extract.ts";
import { QueryRunner, queryConfig } from "../../libraries/sql-answers/run-queries.ts";

const Config = z.object({
  ...queryConfig,
  /** Has `sqlite/<db_id>.sqlite`. */
  spider2_lite_dir: z.string(),
});
type Config = z.output<typeof Config>;

const Columns = z.array(z.number().int());
const Row = z.looseObject({
  /** The name of a database; it becomes part of a path. */
  db_id: z
    .string()
    .regex(/^[^/\0]+$/)
    .refine((name) => !/^\.+$/.test(name)),
  question: z.string(),
  gold_sql: z.string().nullish(),
  /** Alternative results: each a list of rows. */
  gold_result: z.array(z.array(z.array(z.unknown()))).nullish(),
  ignore_order: laxBool().default(true),
  /** The columns of the expected result that count: for every alternative, or one list for each. */
  condition_cols: z.union([Columns, z.array(Columns)]).nullish(),
  instance_id: z.string().nullish(),
  uuid: z.string().nullish(),
  metadata: z.unknown().optional(),
});

const partsOf = perServer((server: ServerContext<Config>) => {
  const directory = server.findFile(server.config.spider2_lite_dir);
  return { directory, queries: new QueryRunner(server, directory, "compare.py") };
});

const hasGold = ({ gold_sql, gold_result }: z.output<typeof Row>) => !!gold_sql || !!gold_result?.length;

/** Questions about a database: the query of the answer must return the expected columns. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  seed: Row.refine(hasGold, { path: ["gold_sql"], message: "gold_sql or gold_result is required" }),
  reverifyMode: "stateless",
  start: (server) => {
    partsOf(server);
  },
  stop: (server) => partsOf(server).queries.close(),
  async verify({ row, response, server, sessionId, signal }) {
    const model_output = outputText(response);
    const extracted_sql = extractSql(model_output);
    const { uuid = null, instance_id = null, gold_sql = null, metadata = null } = row;
    const about = {
      ...{ uuid, instance_id, gold_sql, metadata, model_output, extracted_sql },
      // Expected rows may be large; results do not repeat them.
      ...{ gold_result: undefined, ignore_order: undefined, condition_cols: undefined },
    };
    const failed = { reward: 0, ...about, execution_match: false };
    if (extracted_sql === null) return { ...failed, failure_reason: "no_sql_extracted" };
    if (!hasGold(row)) throw new HttpError(422, "The row has neither gold_sql nor gold_result.");
    const { directory, queries } = partsOf(server);
    const { ignore_order, condition_cols = null, gold_result } = row;
    const outcome = await queries.run(
      {
        database: path.join(directory, "sqlite", `${row.db_id}.sqlite`),
        expected: gold_sql || { rows: gold_result },
        answer: extracted_sql,
        options: { ignore_order, condition_cols, alternatives: !gold_sql, missing_is_empty: true },
      },
      { sessionId, signal },
    );
    if (!("same" in outcome && outcome.same)) return { ...failed, failure_reason: "execution_error" };
    return { reward: 1, ...about, execution_match: true, failure_reason: "none" };
  },
});
