import { byCodePoint, isObject } from "nemo-gym/python";

const LANGUAGES: Record<string, string> = {
  ...{
    zh: "chinese",
    fr: "french",
    de: "german",
    ja: "japanese",
    ko: "korean",
    pl: "polish",
    ru: "russian",
    es: "spanish",
  },
};
const NO_LANGUAGE = ["und", "<err>"];
const MIN_CRITERIA = 6;

/** The slices of the board that a prompt belongs to. */
export function promptSlices(metadata: Record<string, unknown>, input: unknown): Record<string, string[]> {
  const tags = isObject(metadata["tags"]) ? metadata["tags"] : {};
  const has = (...names: (string | RegExp)[]) =>
    Object.entries(tags).some(
      ([tag, value]) =>
        names.some((name) => (name instanceof RegExp ? name.test(tag) : name === tag)) && isSet(value),
    );
  const found: Record<string, boolean> = {
    expert: has("expert_v1", "expert_v0.1"),
    math: has(/^math_/),
    "instruction-following": has("instruction_following_v1", "if_v0.1"),
    "creative-writing": has(/^creative_writing_/),
    coding: has("coding_v2", "coding_v0.1") || metadata["is_code"] === true,
    "multi-turn": userMessages(input) > 1,
  };
  const { user_language: language } = metadata;
  const known =
    typeof language === "string" && !NO_LANGUAGE.includes(language) ? language.split("-", 1)[0] : undefined;
  if (isHard(tags)) {
    found["hard-prompts"] = true;
    found["hard-prompts-english"] = known === "en";
  }
  if (known !== undefined) {
    found[known === "en" ? "english" : "non-english"] = true;
    const name = LANGUAGES[known];
    if (name !== undefined) found[name] = true;
  }
  for (const [tag, industries] of Object.entries(tags))
    if (tag.startsWith("industry_") && isObject(industries))
      for (const [industry, value] of Object.entries(industries))
        if (value === true) found[`industry-${industry.replaceAll("_", "-")}`] = true;
  const taxonomy = Array.isArray(metadata["taxonomy"]) ? metadata["taxonomy"].filter(isObject) : [];
  return {
    arena: Object.keys(found)
      .filter((name) => found[name])
      .sort(byCodePoint),
    "taxonomy-language": names(taxonomy.map((entry) => entry["natural_language"])),
    "taxonomy-task-type": names(taxonomy.map((entry) => entry["task_type"])),
  };
}

/** A tag is set if one of its values is true. */
function isSet(value: unknown): boolean {
  return value === true || (isObject(value) && Object.values(value).includes(true));
}

/** Hard prompts meet six criteria. */
function isHard(tags: Record<string, unknown>): boolean {
  const criteria = tags["hard_prompt_v1"] ?? tags["criteria_v0.1"];
  if (!isObject(criteria)) return criteria === true;
  return (
    Object.entries(criteria).filter(([name, value]) => name !== "tags" && value === true).length >=
    MIN_CRITERIA
  );
}

function userMessages(input: unknown): number {
  return Array.isArray(input) ? input.filter((item) => isObject(item) && item["role"] === "user").length : 1;
}

function names(values: readonly unknown[]): string[] {
  const texts = values.filter((value): value is string => typeof value === "string" && value !== "None");
  return [...new Set(texts)].sort(byCodePoint);
}
