import type { JsonObject } from "nemo-gym";
import { allLabels, lastPartOfLastMessage } from "nemo-gym/verify";
import type { Config } from "./config.ts";

type Labels = Pick<Config, "judge_equal_label" | "judge_not_equal_label">;

export interface Verdict {
  /** The last label of the judge's reply. */
  label: string | null;
  /** Why the verdict may be wrong, in the words of the result. */
  issues: string[];
}

/** Reads the verdict from the body of a judge's reply. */
export function readVerdict(response: JsonObject, config: Labels): Verdict {
  const issues: string[] = [];
  const verdict = (label: string | null): Verdict => {
    if (label === null && response["status"] === "incomplete") issues.unshift("truncated_judge_output");
    return { label, issues };
  };
  const text = finalText(response["output"]);
  if (text === undefined) {
    issues.push("unparseable_judge_output");
    return verdict(null);
  }
  const { judge_equal_label: equal, judge_not_equal_label: different } = config;
  const labels = allLabels(text, [equal, different]);
  if (labels.length === 0) issues.push("no_verdict");
  else {
    const distinct = new Set(labels).size;
    if (distinct > 1 || equal === different) issues.push("conflicting_verdicts");
    if (labels.length > distinct) issues.push("repeated_verdict");
  }
  return verdict(labels.at(-1) ?? null);
}

/** The text of the last part if the reply ends with a message: "" for a refusal, undefined without such a part. */
function finalText(output: unknown): string | undefined {
  if (!Array.isArray(output)) return undefined;
  const text = lastPartOfLastMessage({ output });
  const last = output.at(-1) as { type?: unknown; content?: unknown } | undefined;
  return text ?? (last?.type === "message" && Array.isArray(last.content) ? "" : undefined);
}

/** Equal labels for both verdicts say nothing, so they never mean equal. */
export function meansEqual(label: string | null, config: Labels): boolean {
  return label === config.judge_equal_label && label !== config.judge_not_equal_label;
}
