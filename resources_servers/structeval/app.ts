import { defineResourcesServer } from "nemo-gym";
import { laxBool, outputText } from "nemo-gym/openai";
import { pyRound, strip } from "nemo-gym/python";
import { z } from "zod";
import { extractCode } from "./extract-code.ts";
import { structevalMetrics } from "./metrics.ts";
import { parseOutput } from "./parse-output.ts";
import { pathExists, tokenizePath } from "./paths.ts";

const Row = z.object({
  task_id: z.string(),
  task_name: z.string(),
  input_type: z.string(),
  output_type: z.string(),
  /** The paths that the output must have. */
  raw_output_metric: z.array(z.string()),
  rendering: laxBool().default(false),
});

const Path = z.string().refine((path) => tokenizePath(path) !== undefined, "a '[' without a ']'");

/** Output in JSON, YAML, TOML, XML or CSV that must be readable and have certain keys. */
export default defineResourcesServer({
  config: z.object({
    /** As in the original: escapes are always decoded. Default: the answer is also read as it is, and the better reading counts. */
    always_decode_escapes: laxBool().default(false),
  }),
  row: Row,
  seed: Row.extend({ raw_output_metric: z.array(Path).min(1) }),
  reverifyMode: "stateless",
  metrics: structevalMetrics,
  verify({ config, row, response }) {
    const text = outputText(response);
    if (strip(text) === "") return zero("empty_response", "No assistant response text");
    const lowerText = text.toLowerCase();
    const raw_output_score = share(row.raw_output_metric, (path) => lowerText.includes(path.toLowerCase()));
    const decoded = score(row, extractCode(text, { decode: true }));
    if (config.always_decode_escapes) return { ...decoded, raw_output_score };
    const literal = score(row, extractCode(text, { decode: false }));
    return { ...(decoded.reward > literal.reward ? decoded : literal), raw_output_score };
  },
});

function score({ output_type, raw_output_metric: paths }: z.infer<typeof Row>, code: string) {
  const parsed = parseOutput(code, output_type.toLowerCase());
  if ("error" in parsed) return zero(parsed.error, parsed.message);
  const key_validation_score = share(paths, (path) => pathExists(parsed.value, path));
  return {
    reward: pyRound(0.2 + 0.8 * key_validation_score, 2),
    render_score: 1,
    key_validation_score,
    raw_output_score: 0,
    error_type: null,
    error_message: null,
  };
}

function zero(error_type: string, error_message: string) {
  return {
    reward: 0,
    render_score: 0,
    key_validation_score: 0,
    raw_output_score: 0,
    error_type,
    error_message,
  };
}

function share(paths: readonly string[], holds: (path: string) => boolean): number {
  return paths.length === 0 ? 0 : paths.filter(holds).length / paths.length;
}
