import {
  createJudge,
  defineResourcesServer,
  HttpError,
  JudgeError,
  judgeConfig,
  loadPromptYaml,
} from "nemo-gym";
import { laxInt, outputText } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { jsonVerdict, requireJudgeText } from "nemo-gym/verify";
import { z } from "zod";

const bands = {
  "<80k": "reward_lt_80k",
  "80k-100k": "reward_80k_100k",
  "100k-110k": "reward_100k_110k",
  "110k-128k": "reward_110k_128k",
  "128k+": "reward_128k_plus",
} as const;

/** The versions of the benchmark. Rows name theirs, so that no row is judged by the rules of the other. */
const protocols = {
  legacy_v1_0: { version: "1.0.0", revision: "bdae010bbce259820c0e34c1d7cce210d966fb75" },
  official_v1_1: { version: "1.1", revision: "9a77ef56b717057ade24ceab4d273712a0b4f19e" },
} as const;
const Protocol = z.enum(["legacy_v1_0", "official_v1_1"]).default("legacy_v1_0");

const Row = z.object({
  document_category: z.string(),
  document_set_id: z.string(),
  question_id: laxInt(),
  question: z.string(),
  answer: z.string(),
  data_source_filenames: z.string(),
  data_source_urls: z.string(),
  input_tokens: laxInt(),
  input_tokens_band: z.enum(Object.keys(bands) as (keyof typeof bands)[]),
  aa_lcr_version: z.string().default(protocols.legacy_v1_0.version),
  aa_lcr_dataset_revision: z.string().default(protocols.legacy_v1_0.revision),
  aa_lcr_judge_protocol: Protocol,
});

/** Questions about long documents: a judge compares the answer with the official one. */
export default defineResourcesServer({
  config: z.object({
    ...judgeConfig,
    /** Used instead of `judge_responses_create_params`. */
    judge_responses_create_params_overrides: judgeConfig.judge_responses_create_params,
    judge_protocol: Protocol,
  }),
  row: Row,
  seed: Row,
  async start(server) {
    const { config } = server;
    const fields = ["question", "answer", "response"];
    const prompt = await loadPromptYaml(server, `prompts/${config.judge_protocol}.yaml`, fields);
    const judge = createJudge(server, config, {
      params: config.judge_responses_create_params_overrides,
      systemMessage: prompt.system?.render({}),
    });
    return { judge, prompt: prompt.user };
  },
  // A row of the other version is refused before the model is called.
  session: ({ row, config }) => checkProtocol(row, config.judge_protocol),
  unseeded: () => undefined,
  async verify({ config, state: { judge, prompt }, signal, row, response }) {
    checkProtocol(row, config.judge_protocol);
    const text = strip(outputText(response));
    if (text === "")
      return {
        ...rewards(row, 0),
        invalid_model_response: true,
        invalid_judge_response: null,
        judge_responses_create_params: null,
        judge_response: null,
      };
    const official = config.judge_protocol === "official_v1_1";
    const question = prompt.render({ question: row.question, answer: row.answer, response: judge.fit(text) });
    const asked = await judge.ask(question, {
      signal,
      parse: (_, reply) => {
        const verdict = requireJudgeText(reply, strip(outputText(reply)));
        return official ? officialVerdict(verdict) : isVerdict(verdict) ? verdict : null;
      },
    });
    return {
      ...rewards(row, Number(asked.verdict === "CORRECT")),
      invalid_model_response: false,
      invalid_judge_response: asked.verdict === null,
      judge_responses_create_params: asked.params,
      judge_response: asked.response,
    };
  },
});

function checkProtocol(row: z.output<typeof Row>, protocol: keyof typeof protocols): void {
  const { version, revision } = protocols[protocol];
  const wanted = {
    aa_lcr_version: version,
    aa_lcr_dataset_revision: revision,
    aa_lcr_judge_protocol: protocol,
  };
  for (const [field, value] of Object.entries(wanted)) {
    const found = row[field as keyof typeof wanted];
    if (found !== value)
      throw new HttpError(422, `${field} is '${found}', but judge_protocol ${protocol} needs '${value}'.`);
  }
}

function rewards(row: z.output<typeof Row>, reward: number) {
  const byBand = Object.entries(bands).map(([band, name]) => [
    name,
    band === row.input_tokens_band ? reward : null,
  ]);
  return { reward, ...Object.fromEntries(byBand) };
}

const Verdict = z.enum(["CORRECT", "INCORRECT"]);

function isVerdict(text: string): boolean {
  return Verdict.safeParse(text).success;
}

/** The reply must be one JSON object and nothing else. */
function officialVerdict(text: string): string {
  const found =
    text.startsWith("{") && text.endsWith("}") && jsonVerdict(text, z.strictObject({ verdict: Verdict }));
  if (!found) throw new JudgeError(`The judge answered without a verdict: ${text.slice(0, 200)}`);
  return found.verdict;
}
