import { fileURLToPath } from "node:url";
import equivalence from "../resources_servers/equivalence_llm_judge/app.ts";
import instructionFollowing from "../resources_servers/instruction_following/app.ts";
import { createTestServer, messageItem, type TestServer, verifyBody } from "../src/testing/index.ts";
import type { Report } from "./report.ts";

export const name = "environments-c";

/** Maximum time that a verifier may block the event loop; slower verifiers run in the worker pool. */
const LOOP_BUDGET_MS = 5;
const RUNS = 300;

const root = import.meta.url.endsWith(".ts") ? "../" : "../../";
const directory = fileURLToPath(new URL(`${root}resources_servers/equivalence_llm_judge/`, import.meta.url));

const paragraph =
  "The ferry from Mr. Brown's harbour leaves at five past four, but only on weekdays. Isn't that early? " +
  "It takes 2.5 hours to reach the island; bring warm clothes! Most visitors stay for a night or two.\n\n";
const shortAnswer = paragraph.repeat(15);
const longAnswer = paragraph.repeat(150);

const constraints: Record<string, [id: string, kwargs: Record<string, unknown>][]> = {
  "three plain constraints": [
    ["punctuation:no_comma", {}],
    ["length_constraints:number_words", { num_words: 100, relation: "at least" }],
    ["keywords:existence", { keywords: ["ferry", "island"] }],
  ],
  "sentences and tokens": [
    ["length_constraints:number_sentences", { num_sentences: 10, relation: "at least" }],
    ["change_case:capital_word_frequency", { capital_frequency: 3, capital_relation: "less than" }],
  ],
  language: [["language:response_language", { language: "en" }]],
};

async function perVerify(report: Report, label: string, server: TestServer, body: unknown): Promise<number> {
  for (let run = 0; run < RUNS / 3; run++) await server.verify(body);
  return (await report.measure(label, RUNS, () => server.verify(body))).cpuMs;
}

export async function run(report: Report): Promise<void> {
  const judge = () => ({ output: [messageItem("Same.\n\n[[A=B]]")] });
  const judged = await createTestServer(equivalence, {
    config: { judge_model_server: { type: "responses_api_models", name: "judge" } },
    directory,
    servers: { judge },
  });
  const row = { expected_answer: "42", template_metadata: { output_regex: "\\(\\((.*?)\\)\\)" } };
  const held = await perVerify(
    report,
    "equivalence_llm_judge, pattern and one judge call, 3 kB",
    judged,
    verifyBody(row, messageItem(`${shortAnswer}((42))`)),
  );
  report.check(
    `equivalence_llm_judge holds the loop for less than ${LOOP_BUDGET_MS} ms`,
    held < LOOP_BUDGET_MS,
  );
  await judged.close();

  const following = await createTestServer(instructionFollowing);
  for (const [size, answer] of [
    ["3 kB", shortAnswer],
    ["30 kB", longAnswer],
  ] as const) {
    for (const [label, list] of Object.entries(constraints)) {
      const metadata = {
        instruction_id_list: list.map(([id]) => id),
        kwargs: list.map(([, kwargs]) => kwargs),
        prompt: "p",
      };
      const body = verifyBody({ id: 1, verifier_metadata: metadata }, messageItem(answer));
      await perVerify(report, `instruction_following, ${label}, ${size}`, following, body);
    }
  }
  report.check(
    "instruction_following runs in the worker pool",
    instructionFollowing.options.verifyIn === "pool",
  );
  await following.close();
}
