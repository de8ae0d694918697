import { readFile } from "node:fs/promises";
import { languageFidelity } from "../../../../resources_servers/longmt_eval/language-fidelity.ts";
import { type AlignedPair, scoreSpans } from "../../../../resources_servers/longmt_eval/spans.ts";
import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { type FixtureRow, isObject, type JsonObject } from "../rows.ts";

type Create = (scorer: () => (...texts: unknown[]) => Promise<unknown>) => unknown;

/** The calls of the scorer of the row that runs; rows run one after the other. */
let calls: unknown[][] = [];

async function answer(result: JsonObject): Promise<unknown> {
  if (result["dispatch"] === "none") throw new Error("actor_unavailable");
  if (typeof result["raises"] === "string") throw new Error(result["raises"]);
  return result;
}

/** The expected value of a helper may be a list or a number: it is kept below `value`. */
async function rows(file: string): Promise<FixtureRow[]> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line !== "");
  return lines.map((line) => {
    const row = JSON.parse(line) as FixtureRow;
    return isObject(row.expected) ? row : { ...row, expected: { value: row.expected } };
  });
}

export const adapter: Adapter = {
  rows,
  config: () => ({ scorer_urls: ["http://unused.example"] }),
  definition(module, row) {
    const result = row["actor_result"];
    calls = [];
    return (module["longmtEval"] as Create)(() => (...texts) => {
      calls.push(texts.slice(0, 3));
      return answer(isObject(result) ? result : {});
    });
  },
  caseOf(row) {
    if (row["kind"] === "comet_spans") return () => spansCase(row);
    if (row["kind"] === "lang_fidelity") return () => fidelityCase(row);
    return undefined;
  },
  observe: { actor_calls: () => calls },
  unlisted: ["_ng_failure_class", "_ng_failure_judge_error"],
};

async function spansCase(row: FixtureRow): Promise<string | undefined> {
  const estimate = async (pairs: readonly AlignedPair[]) =>
    pairs.map(({ tgt }) => Number((0.1 + 0.07 * tgt.length).toFixed(4)));
  return difference(
    await scoreSpans(row["spans"] as AlignedPair[], estimate),
    row.expected["value"],
    "spans",
  );
}

async function fidelityCase(row: FixtureRow): Promise<string | undefined> {
  const actual = await languageFidelity(String(row["text"]), String(row["target_language"]));
  return difference(actual, row.expected["value"], "lang_fidelity");
}
