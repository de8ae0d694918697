import { Deadline, GymError } from "nemo-gym";
import { request } from "undici";
import { z } from "zod";
import { languageFidelity } from "./language-fidelity.ts";
import { scoreSpans } from "./spans.ts";

/** Scores a translation; the result is checked where it is used. */
export type Scorer = (
  source: string,
  translation: string,
  targetLanguage: string,
  signal: AbortSignal,
) => Promise<unknown>;

const Alignment = z.object({ spans: z.array(z.object({ src: z.string(), tgt: z.string() })) });
const Estimates = z.object({ scores: z.array(z.number()) });
const maxQuoted = 300;

/** The scoring service did not answer as expected. */
export class ScorerError extends GymError {
  constructor(message: string) {
    super("LONGMT_SCORER_FAILED", message);
  }
}

/** Scores with services that align sentences (`POST /align`) and estimate their quality (`POST /estimate`), used in turn. */
export function serviceScorer(urls: readonly string[], timeoutMs: number): Scorer {
  let calls = 0;
  return async (source, translation, targetLanguage, signal) => {
    const url = urls[calls++ % urls.length] ?? "";
    const post = <Value>(path: string, body: object, schema: z.ZodType<Value>) =>
      call(`${url}${path}`, body, schema, timeoutMs, signal);
    const { spans: pairs } = await post("/align", { source, translation }, Alignment);
    const spans = await scoreSpans(pairs, async (complete) => {
      const asked = complete.map(({ src, tgt }) => ({ src, mt: tgt }));
      return (await post("/estimate", { pairs: asked }, Estimates)).scores;
    });
    return {
      comet_qe: spans.reduce((sum, { comet_qe }) => sum + comet_qe, 0) / Math.max(spans.length, 1),
      lang_fidelity: await languageFidelity(translation, targetLanguage),
      total_seg: spans.length,
      misaligned_seg: spans.filter(({ hallucinated, deleted }) => hallucinated || deleted).length,
      spans,
    };
  };
}

async function call<Value>(
  url: string,
  body: object,
  schema: z.ZodType<Value>,
  timeoutMs: number,
  signal: AbortSignal,
) {
  const deadline = new Deadline(timeoutMs, signal);
  try {
    const headers = { "content-type": "application/json" };
    const reply = await request(url, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      signal: deadline.signal,
    });
    const text = await reply.body.text();
    if (reply.statusCode >= 400)
      throw new ScorerError(`${reply.statusCode} from ${url}: ${text.slice(0, maxQuoted)}`);
    const parsed = schema.safeParse(jsonOf(text));
    if (!parsed.success)
      throw new ScorerError(`the reply of ${url} has an unknown form: ${text.slice(0, maxQuoted)}`);
    return parsed.data;
  } finally {
    deadline.clear();
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
