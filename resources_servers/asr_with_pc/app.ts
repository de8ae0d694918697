import { defineResourcesServer, HttpError, type JsonObject } from "nemo-gym";
import { laxFloat, outputText } from "nemo-gym/openai";
import { codePointLength, pyRound, strip } from "nemo-gym/python";
import { z } from "zod";
import {
  collapsed,
  errorRate,
  punctuationErrorRate,
  tokensOf,
  withoutPunctuation,
  wordErrors,
} from "./measures.ts";
import { asrMetrics, asrText } from "./metrics.ts";

/** Faster than people speak. */
const MAX_CHARACTERS_PER_MINUTE = 1500;
const MAX_ERROR_RATE = 0.5;

const TaskType = z.enum(["ASR-PC", "ASR", "Hallucination", "ASR_LEADERBOARD"]);

const Row = z.looseObject({
  expected_answer: z.string().default(""),
  task_type: TaskType.nullish(),
  audio_duration: laxFloat().nullish(),
  reference_fields: z.array(z.string()).nullish(),
  sample_id: z.string().nullish(),
  split: z.string().nullish(),
});

/** Without the text or the duration, any answer or none would be right. */
const Task = Row.extend({ expected_answer: z.string().optional() }).superRefine((row, context) => {
  const path =
    row.task_type === "Hallucination"
      ? (row.audio_duration ?? 0) > 0 || "audio_duration"
      : row.expected_answer !== undefined || "expected_answer";
  if (path !== true) context.addIssue({ code: "custom", path: [path], message: "Field required" });
});

const rate = (reference: string, hypothesis: string) => errorRate([wordErrors(reference, hypothesis)]);

/** Speech recognition: the words, punctuation and case of a transcript, or whether it was made up. */
export default defineResourcesServer({
  config: z.object({
    /** The measure of rows without a `task_type`. */
    task_type: TaskType.default("ASR-PC"),
  }),
  row: Row,
  seed: Task,
  reverifyMode: "stateless",
  metrics: asrMetrics,
  verifyIn: "pool",
  verify({ config, row, response }) {
    const hypothesis = strip(outputText(response));
    const reference = strip(row.expected_answer);
    const {
      sample_id = null,
      split = null,
      task_type = null,
      audio_duration = null,
      reference_fields = null,
    } = row;
    const scores = scoresOf(task_type ?? config.task_type, { reference, hypothesis, row });
    return {
      reward: scores.is_correct ? 1 : 0,
      ...{ sample_id, split, task_type, audio_duration, reference_fields },
      ...{ hallucination_rate: null, char_rate: null },
      ...scores,
    };
  },
});

type Scores = JsonObject & { is_correct: boolean };
interface Task {
  reference: string;
  hypothesis: string;
  row: JsonObject;
}

function scoresOf(type: z.output<typeof TaskType>, task: Task): Scores {
  switch (type) {
    case "ASR-PC":
      return withPunctuation(task);
    case "ASR":
      return words(task);
    case "ASR_LEADERBOARD":
      return { ...words(task), ...furtherReferences(task) };
    case "Hallucination":
      return hallucination(task);
  }
}

const UNUSED = { wer_c: 0, wer_pc: 0, per: 0, ref_pc_tok: "", hyp_pc_tok: "", ref_c: "", hyp_c: "" };

function withPunctuation({ reference, hypothesis }: Task): Scores {
  const [ref_pc_tok, hyp_pc_tok] = [tokensOf(reference).join(" "), tokensOf(hypothesis).join(" ")];
  const [ref_c, hyp_c] = [withoutPunctuation(reference), withoutPunctuation(hypothesis)];
  const [text, pred_text] = [asrText(reference), asrText(hypothesis)];
  const wer_pc = rate(ref_pc_tok, hyp_pc_tok);
  return {
    ...{ text, pred_text, ref_pc_tok, hyp_pc_tok, ref_c, hyp_c, wer_pc },
    wer: rate(text, pred_text),
    wer_c: rate(ref_c, hyp_c),
    per: punctuationErrorRate(collapsed(reference), collapsed(hypothesis)),
    is_correct: wer_pc < MAX_ERROR_RATE,
  };
}

function words({ reference, hypothesis }: Pick<Task, "reference" | "hypothesis">): Scores {
  const text = asrText(reference);
  const pred_text = asrText(hypothesis) || "empty";
  if (text === "") return { ...UNUSED, text, pred_text, wer: 0, is_correct: false };
  const wer = rate(text, pred_text);
  return { ...UNUSED, text, pred_text, wer, is_correct: wer < MAX_ERROR_RATE };
}

/** Each further reference of the row is scored in the same way; one without words has no score. */
function furtherReferences({ hypothesis, row }: Task): JsonObject {
  const scores: JsonObject = {};
  for (const name of (row["reference_fields"] as string[] | null | undefined) ?? []) {
    if (!Object.hasOwn(row, name))
      throw new HttpError(422, `reference_fields has '${name}', but the row has no such field.`);
    const { text, wer, is_correct } = words({ reference: String(row[name] ?? ""), hypothesis });
    const suffix = name.replace(/^text_/, "");
    scores[`wer_${suffix}`] = text === "" ? null : wer;
    scores[`is_correct_${suffix}`] = text === "" ? null : is_correct;
  }
  return scores;
}

function hallucination({ reference, hypothesis, row }: Task): Scores {
  const seconds = Number(row["audio_duration"] ?? 0);
  const char_rate = seconds > 0 ? (codePointLength(hypothesis) / seconds) * 60 : 0;
  const isMadeUp = char_rate > MAX_CHARACTERS_PER_MINUTE;
  return {
    ...UNUSED,
    ...{ text: reference, pred_text: hypothesis, wer: 0 },
    hallucination_rate: isMadeUp ? 1 : 0,
    char_rate: pyRound(char_rate, 2),
    is_correct: !isMadeUp,
  };
}
