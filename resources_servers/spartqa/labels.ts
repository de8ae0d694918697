import { splitWords } from "nemo-gym/python";

export const bothLabel = "both of them";
export const noneLabel = "none of them";

const aliases = new Map([
  ...["both", "both objects", "both of the objects", "both of these"].map(
    (alias) => [alias, bothLabel] as const,
  ),
  ...[
    "none",
    "none of the objects",
    "neither",
    "neither of them",
    "neither object",
    "no object",
    "dk",
    "do not know",
    "dont know",
  ].map((alias) => [alias, noneLabel] as const),
]);

/** The text in lower case, without ASCII punctuation and with single spaces. */
export function normalize(text: string): string {
  return splitWords(text.toLowerCase().replace(/[!-/:-@[-`{-~]/g, "")).join(" ");
}

/** The form in which labels are compared: normalized, without the article in front. */
export function labelKey(text: string): string {
  return normalize(text).replace(/^(?:a|an|the) /, "");
}

/** The labels that an answer may name: the options, both and none; labels with the same key only once. */
export function candidateLabels(options: readonly string[]): string[] {
  const labels = new Map<string, string>();
  for (const option of [...options, bothLabel, noneLabel]) {
    const key = labelKey(option);
    if (key !== "" && !labels.has(key)) labels.set(key, option.trim());
  }
  return [...labels.values()];
}

/** The label that an answer is, or the only one that it contains; a label inside a longer one that it contains does not count. */
export function matchLabel(answer: string, labels: readonly string[]): string | undefined {
  const key = labelKey(answer);
  if (key === "") return undefined;
  const exact = labels.find((label) => labelKey(label) === key) ?? aliases.get(key);
  if (exact !== undefined) return exact;
  const contained = labels.filter((label) => key.includes(labelKey(label)));
  const longest = contained.filter(
    (label) => !contained.some((other) => other !== label && labelKey(other).includes(labelKey(label))),
  );
  return longest.length === 1 ? longest[0] : undefined;
}
