import type { Adapter } from "../adapters.ts";
import { difference } from "../compare.ts";
import { type Environment, startRowServer } from "../environment-server.ts";
import { judgeCallsDifference } from "../judge-calls.ts";
import { type FixtureRow, isObject, type JsonObject } from "../rows.ts";
import { messagesOf, outputMessage, type RecordedCall, responseOf } from "../scripted-servers.ts";

/** Fixtures of math_with_judge: pairs of a gold answer and a text, and judge calls described by their two answers. */
export const adapter: Adapter = {
  // Recorded rollouts were verified with the shipped config, which has the judge off.
  config: (row) => (row["source"] === undefined ? {} : { should_use_judge: false }),
  ignore: ["extracted_answer"],
  observe: {
    n_judge_evaluations: ({ judge_evaluations: list }) => (Array.isArray(list) ? list.length : null),
  },
  judgeCalls(calls, expected) {
    if (!Array.isArray(expected)) return undefined;
    return (
      judgeCallsDifference(calls, expected) ??
      difference(calls.map(answersOf), expected.map(answers), "judge_calls")
    );
  },
  caseOf: (row, environment) =>
    typeof row["generated_text"] === "string" ? () => runPair(row, environment) : undefined,
};

function answers(call: unknown): JsonObject {
  return isObject(call) ? { first: call["first_answer"], second: call["second_answer"] } : {};
}

/** The two answers in our prompt for the judge. */
function answersOf(call: RecordedCall): JsonObject {
  const content = String(messagesOf(call).at(-1)?.content ?? "");
  const [, first, second] =
    /<answer_a>\n([\s\S]*)\n<\/answer_a>\n\n<answer_b>\n([\s\S]*)\n<\/answer_b>$/.exec(content) ?? [];
  return { first, second };
}

/** Compares the reward without a judge. For the extracted answer only its presence is compared: its text is in SymPy's notation. */
async function runPair(row: FixtureRow, environment: Environment): Promise<string | undefined> {
  const run = await startRowServer(environment, {
    ...row,
    config: { should_use_judge: false, ...row.config },
  });
  try {
    const { body } = await run.server.post("/verify", {
      responses_create_params: { input: [] },
      response: responseOf([outputMessage(String(row["generated_text"]))]),
      question: "",
      expected_answer: row["gold"],
    });
    if (!isObject(body)) return `expected a result, got ${JSON.stringify(body)}`;
    const summary = ({ reward, library_reward, extracted_answer }: JsonObject) => ({
      reward,
      library_reward,
      found: extracted_answer !== null,
    });
    return difference(summary(body), summary(row.expected), `${row["gold"]} / ${row["generated_text"]}`);
  } finally {
    await run.close();
  }
}
