import {
  allAssistantText,
  createJudge,
  defineResourcesServer,
  HttpError,
  judgeConfig,
  loadPromptText,
} from "nemo-gym";
import { laxBool, outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { firstLabel, type JudgeReply } from "nemo-gym/verify";
import { z } from "zod";
import { extractSql } from "../../libraries/sql-answers/extract.ts";

const SYSTEM = "You compare SQL queries. You judge what they return, not how they are written.";

const dialects = ["mysql", "postgresql", "sqlite"];
const aliases = new Map([
  ["postgres", "postgresql"],
  ["pg", "postgresql"],
  ["sqlite3", "sqlite"],
]);

const Row = z.object({
  sql: z.string(),
  sql_dialect: z.string(),
  sql_prompt: z.string(),
  sql_context: z.string().default(""),
  uuid: z.union([z.string(), z.number()]).nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
});

/** Questions about a database: a judge decides whether the query of the model does the same as the expected one. */
export default defineResourcesServer({
  config: z.object({
    ...judgeConfig,
    judge_system_message: z.string().nullable().default(SYSTEM),
    judge_equal_label: z.string().default("[[A=B]]"),
    judge_not_equal_label: z.string().default("[[A!=B]]"),
    /** Asks a second time with the queries swapped; both verdicts must be equal. */
    check_twice_swap: laxBool().default(true),
    reward_if_swap_fails: z.number().default(0),
  }),
  row: Row,
  seed: Row.extend({
    sql_dialect: z.string().refine((dialect) => normalize(dialect) !== undefined, {
      error: `must be one of ${dialects.join(", ")}`,
    }),
  }),
  async start(server) {
    const { judge_system_message: systemMessage } = server.config;
    const fields = ["dialect", "context", "question", "sql_a", "sql_b", "equal", "not_equal"];
    return {
      judge: createJudge(server, server.config, { systemMessage }),
      prompt: await loadPromptText(server, "prompts/judge.txt", fields),
    };
  },
  async verify({ config, state: { judge, prompt }, signal, row, response }) {
    const sql_dialect = normalize(row.sql_dialect);
    if (sql_dialect === undefined)
      throw new HttpError(422, `sql_dialect is '${row.sql_dialect}', not one of ${dialects.join(", ")}.`);
    const { judge_equal_label: equal, judge_not_equal_label: not_equal } = config;
    const model_output = outputText(response);
    const extracted_sql = extractSql(model_output);
    const judge_evaluations: object[] = [];

    const areEqual = async (sql_a: string, sql_b: string): Promise<boolean> => {
      const text = prompt.render({
        dialect: sql_dialect,
        context: judge.fit(row.sql_context),
        question: row.sql_prompt,
        sql_a: judge.fit(sql_a),
        sql_b: judge.fit(sql_b),
        equal,
        not_equal,
      });
      const parse = (_: string, reply: JudgeReply) => firstLabel(allAssistantText(reply), [equal, not_equal]);
      const { verdict, params, response } = await judge.ask(text, { signal, parse });
      judge_evaluations.push({ responses_create_params: params, response, verdict_label: verdict });
      return verdict === equal;
    };
    const score = async (sql: string): Promise<number> => {
      if (!(await areEqual(row.sql, sql))) return 0;
      if (!config.check_twice_swap || (await areEqual(sql, row.sql))) return 1;
      return config.reward_if_swap_fails;
    };
    const reward = extracted_sql === null ? 0 : await score(extracted_sql);
    const judge_passed = judge_evaluations.length > 0 && reward === 1;
    return {
      reward,
      sql_dialect,
      uuid: row.uuid ?? null,
      metadata: row.metadata ?? null,
      model_output,
      extracted_sql,
      judge_passed,
      failure_reason: failureReason(extracted_sql, judge_passed),
      judge_evaluations,
    };
  },
});

function failureReason(sql: string | null, passed: boolean): string {
  if (sql === null) return "no_sql_extracted";
  return passed ? "none" : "judge_evaluation_failed";
}

function normalize(dialect: string): string | undefined {
  const name = strip(dialect).toLowerCase();
  const known = aliases.get(name) ?? name;
  return dialects.includes(known) ? known : undefined;
}
