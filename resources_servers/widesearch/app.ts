import {
  allAssistantText,
  createJudge,
  defineResourcesServer,
  type Judge,
  judgeConfig,
  loadPromptYaml,
} from "nemo-gym";
import { isObject, loadsPlain, pyRepr, pyStr } from "nemo-gym/python";
import { z } from "zod";
import { preprocess } from "./cells.ts";
import { metricScore } from "./metrics.ts";
import { type Pipeline, Row } from "./row.ts";
import { compareTables, NO_MATCH, type Table, unreadable } from "./score.ts";
import { goldTable, readTable, sameColumns } from "./table.ts";

const Config = z.object({
  ...judgeConfig,
  judge_prompt_paths: z
    .object({ alignment: z.string(), column_judge: z.string() })
    .default({ alignment: "prompts/alignment.yaml", column_judge: "prompts/column_judge.yaml" }),
});

/** Research whose answer is a table; it is compared with the right one cell by cell. */
export default defineResourcesServer({
  config: Config,
  row: Row,
  reverifyMode: "stateless",
  async start(server) {
    const { alignment, column_judge } = server.config.judge_prompt_paths;
    return {
      judge: createJudge(server, server.config),
      alignment: (await loadPromptYaml(server, alignment, ["response", "reference"])).user,
      columnJudge: (await loadPromptYaml(server, column_judge, ["criterion", "response"])).user,
    };
  },
  async verify({ row, response, state: { judge, alignment, columnJudge }, signal }) {
    const { required, unique_columns: keys, eval_pipeline: pipeline } = row.evaluation;
    const given = readTable(allAssistantText(response));
    if (!given) return unreadable("response contains no Markdown table");
    const gold = goldTable(row.gold_answer);

    /** How a judge maps names or values of the answer to those of the reference. */
    const align = async (values: readonly string[], reference: readonly string[]) => {
      const prompt = alignment.render({
        response: judge.fit(pyRepr(values)),
        reference: judge.fit(pyRepr(reference)),
      });
      const mapping = await askForObject(judge, prompt, signal);
      return (value: string) => (typeof mapping[value] === "string" ? String(mapping[value]) : value);
    };

    if (given.columns.some((name) => !required.includes(name))) {
      const renamed = await align(given.columns, required);
      given.columns = given.columns.map(renamed);
    }
    if (!sameColumns(given.columns, required))
      return unreadable(`required columns ${pyRepr(required)} do not match ${pyRepr(given.columns)}`);
    if (!sameColumns(gold.columns, required, { mayHaveMore: true }))
      return unreadable(
        `required columns ${pyRepr(required)} do not match ${pyRepr(gold.columns)} of the reference`,
      );

    for (const key of keys) {
      if (!metricsOf(pipeline, key).some((name) => name === "exact_match" || name === "llm_judge")) continue;
      const [values, known] = [column(given, key), column(gold, key)];
      if (values.every((value) => known.includes(value))) continue;
      const aligned = await align(values, known);
      mapColumn(given, key, aligned);
    }
    for (const name of required)
      for (const table of [given, gold])
        mapColumn(table, name, (value) => preprocess(value, pipeline[name]?.preprocess ?? []));

    return compareTables(given, gold, { required, keys }, async (name, pairs) => {
      const scores = pairs.map(() => 1);
      const { criterion } = pipeline[name] ?? {};
      for (const metric of metricsOf(pipeline, name)) {
        const judged =
          metric === "llm_judge" ? await judgePairs(judge, columnJudge, criterion, pairs, signal) : undefined;
        for (const [index, pair] of pairs.entries()) {
          const score = judged ? judged[index] : metricScore(metric, pair, criterion);
          scores[index] = Math.min(scores[index] ?? 0, score ?? 0);
        }
      }
      return scores;
    });
  },
});

function metricsOf(pipeline: Pipeline, name: string) {
  return pipeline[name]?.metric ?? [];
}

function column(table: Table, name: string): string[] {
  const index = table.columns.indexOf(name);
  return table.rows.map((cells) => cells[index] ?? NO_MATCH);
}

function mapColumn(table: Table, name: string, change: (value: string) => string): void {
  const index = table.columns.indexOf(name);
  for (const cells of table.rows) cells[index] = change(cells[index] ?? NO_MATCH);
}

/** One call about all pairs of a column. A pair passes only if its verdict is 1. */
async function judgePairs(
  judge: Judge,
  template: { render(values: Record<string, string>): string },
  criterion: unknown,
  pairs: readonly { response: string; target: string }[],
  signal: AbortSignal,
): Promise<number[]> {
  const numbered = Object.fromEntries(
    pairs.map(({ response, target }, index) => [`idx_${index}`, { response, target }]),
  );
  const prompt = template.render({
    criterion: pyStr(criterion ?? null),
    response: judge.fit(pyRepr(numbered)),
  });
  const verdicts = await askForObject(judge, prompt, signal);
  return pairs.map((_, index) => Number([1, true].includes(verdicts[`idx_${index}`] as number | boolean)));
}

/** The object in the last `json` fence of a reply; empty without one. */
async function askForObject(
  judge: Judge,
  prompt: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { verdict } = await judge.ask(prompt, {
    signal,
    parse(_, reply) {
      const text = [...allAssistantText(reply).matchAll(/```json\s*(\{.*?\})\s*```/gs)].at(-1)?.[1];
      try {
        const value = loadsPlain(text ?? "");
        return isObject(value) ? value : null;
      } catch {
        return null;
      }
    },
  });
  return verdict ?? {};
}
