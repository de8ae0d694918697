import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, it } from "vitest";
import { messageItem, verifyBody } from "../src/testing/index.ts";
import { project, runGym } from "./gym-process.ts";
import { captureRun } from "./support/captured-run.ts";

const CONFIG = `quiz:
  resources_servers:
    quiz: {entrypoint: app.ts, domain: other}
quiz_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: quiz}
      model_server: {type: responses_api_models, name: policy_model}
      datasets:
      - {name: example, type: example, jsonl_fpath: resources_servers/quiz/data/example.jsonl}
`;
const APP = `import { defineResourcesServer } from "nemo-gym";
import { lastWord } from "../../libraries/words.ts";

export default defineResourcesServer({
  verify({ row, response }) {
    const text = response.output.at(-1)?.content?.[0]?.text ?? "";
    const word = lastWord(text);
    return { reward: word !== "" && word === row.expected_answer.toLowerCase() ? 1 : 0 };
  },
});
`;
const LIBRARY = `export const lastWord = (text: string) => text.trim().split(/\\s+/).at(-1)?.toLowerCase() ?? "";\n`;
const rows = ["heron", "linden", "copper", "violin", "harbour"].map((expected_answer, at) => ({
  responses_create_params: { input: `Which word has the number ${at}?` },
  expected_answer,
}));
const lines = (values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join("");
const cases = [
  ["upper case", "It is HERON", 1],
  ["other word", "It is heron, no: linden", 0],
].map(([name, text, reward]) => ({
  name,
  kind: reward === 1 ? "full_reward" : "zero_reward",
  request: verifyBody(rows[0] ?? {}, messageItem(String(text))),
  expected_reward: reward,
}));

const quiz = () =>
  project({
    "libraries/words.ts": LIBRARY,
    "resources_servers/quiz/app.ts": APP,
    "resources_servers/quiz/configs/quiz.yaml": CONFIG,
    "resources_servers/quiz/data/example.jsonl": lines(rows),
    "resources_servers/quiz/tests/verifier_cases.jsonl": lines(cases),
  });

it("certifies what changed, and keeps a certificate whose score is higher", {
  timeout: 300_000,
}, async () => {
  const cwd = await quiz();
  const stored = path.join(cwd, "resources_servers/quiz/certificate.json");
  const score = async () => JSON.parse(await readFile(stored, "utf8")).certificates.quiz.mutation_score;
  const first = await runGym(["env", "certify", "quiz"], { cwd });
  expect(first.stdout).toContain("mutation-score: ");
  expect(first.stdout).toContain("written to resources_servers/quiz/certificate.json");
  const before = await score();
  expect(before).toBeGreaterThan(0.5);

  const listed = await runGym(["list", "environments", "--json"], { cwd });
  const [entry] = JSON.parse(listed.stdout).filter(({ name }: { name: string }) => name.endsWith("/quiz"));
  expect(entry.certificate).toMatchObject({
    level: "semantic",
    mutation_score: before,
    waived: [],
  });

  // Also code that the folder imports from elsewhere counts.
  await writeFile(path.join(cwd, "libraries/words.ts"), `${LIBRARY}// changed\n`);
  await writeFile(
    path.join(cwd, "resources_servers/quiz/data/example.jsonl"),
    lines(rows.map(({ expected_answer, ...row }) => ({ ...row, expected_answer, answer_is_hidden: true }))),
  );
  await writeFile(path.join(cwd, "resources_servers/quiz/audit.yaml"), "gold: {text: nothing}\n");
  await writeFile(path.join(cwd, "resources_servers/quiz/tests/verifier_cases.jsonl"), lines(cases.slice(1)));
  const worse = await runGym(["env", "certify", "quiz"], { cwd });
  expect(worse.exitCode).toBe(1);
  expect(worse.stdout).toContain("not written: the mutation score fell from");
  expect(await score()).toBe(before);
  await runGym(["env", "certify", "quiz", "--lower"], { cwd });
  expect(await score()).toBeLessThan(before);
});

it.each([
  [[], "name an environment, or give --stale"],
  [["quiz", "--run", "rollouts.jsonl"], "it needs --level statistical"],
  [["quiz", "--against", "nowhere.jsonl"], "nowhere.jsonl does not exist"],
  [["quiz", "--output", "nowhere"], "nowhere is not a folder"],
  [["quizz"], "quiz"],
])("refuses %j", async (words, message) => {
  const { exitCode, stderr } = await captureRun(["env", "certify", ...words], { cwd: await quiz() });
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
});
