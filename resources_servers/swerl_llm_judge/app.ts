import { allAssistantText, defineResourcesServer } from "nemo-gym";
import { strip } from "nemo-gym/python";
import { z } from "zod";

const STRICT = /<solution>\s*\[?([A-Za-z])\]?\s*<\/solution>/;
const SOLUTION = /<solution>(.*?)<\/solution>/gis;
/** A letter that is not part of a word; digits next to it do not count. */
const SINGLE_LETTER = /(?<!\p{L})\p{L}(?!\p{L})/u;
const LETTER = /^[A-Z]$/;

const Row = z.object({
  /** Each with the letter as its first key, and the text of the change. */
  options: z.array(z.record(z.string(), z.unknown())).nullish(),
  expected_answer: z.union([z.string(), z.array(z.string())]).nullish(),
  grading_mode: z.enum(["lenient", "strict"]).default("lenient"),
});

/** Choose the change that resolves an issue. Despite its name, the environment calls no judge. */
export default defineResourcesServer({
  row: Row,
  seed: z.looseObject({
    options: z.array(z.record(z.string(), z.unknown())).min(1),
    expected_answer: z.union([z.string().min(1), z.array(z.string()).min(1)]),
    grading_mode: Row.shape.grading_mode,
  }),
  echo: [],
  reverifyMode: "stateless",
  verify({ row, response }) {
    const { options, expected_answer, grading_mode } = row;
    const allowed = letters((options ?? []).map((option) => Object.keys(option)[0] ?? ""));
    const gold = letters([expected_answer ?? []].flat()).filter(
      (letter) => allowed.length === 0 || allowed.includes(letter),
    );
    const chosen = chosenLetter(allAssistantText(response), grading_mode);
    const extracted = chosen !== undefined && allowed.includes(chosen) ? chosen : null;
    return {
      reward: extracted !== null && gold.includes(extracted),
      expected_answer: gold.length === 1 ? gold[0] : gold,
      extracted_answer: extracted,
    };
  },
});

/** The texts that are one letter, in upper case, each once. */
function letters(texts: readonly string[]): string[] {
  return [...new Set(texts.map((text) => strip(text).toUpperCase()))].filter((text) => LETTER.test(text));
}

function chosenLetter(text: string, mode: "lenient" | "strict"): string | undefined {
  if (mode === "strict") return STRICT.exec(text)?.[1]?.toUpperCase();
  const [, solution = ""] = [...text.matchAll(SOLUTION)].at(-1) ?? [];
  return SINGLE_LETTER.exec(solution)?.[0].toUpperCase();
}
