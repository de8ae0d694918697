import { RegexBudgetError, RegexSyntaxError, strip } from "nemo-gym/python";
import { FormatError } from "nemo-gym/verify";
import type { Instruction, Instructions } from "./instruction.ts";
import { Kwargs, KwargsError } from "./kwargs.ts";

/** What a check throws if the arguments or the text cannot be read. Any other error is a fault of the check. */
const expected = [KwargsError, RegexSyntaxError, RegexBudgetError, FormatError];

/**
 * Whether a text follows an instruction of a table. An unknown id, an unexpected or missing argument, or an invalid pattern counts
 * as not followed.
 */
export function followsIn(
  instructions: Instructions,
  id: string,
  kwargs: Readonly<Record<string, unknown>> | null,
  text: string,
): boolean {
  const instruction: Instruction | undefined = Object.hasOwn(instructions, id) ? instructions[id] : undefined;
  if (!instruction) return false;
  const given = Object.entries(kwargs ?? {}).filter(([, value]) => value !== null);
  const { kwargs: known } = instruction;
  if (known !== "any" && given.some(([name]) => !known.includes(name))) return false;
  try {
    return instruction.check(text, new Kwargs(Object.fromEntries(given)));
  } catch (error) {
    if (expected.some((kind) => error instanceof kind)) return false;
    throw error;
  }
}

/**
 * The forms of an answer of which one must follow an instruction in a lenient check: as it is, without its first line, without its
 * last line, without both, and each of them without stars.
 */
export function lenientForms(answer: string): string[] {
  const lines = answer.split("\n");
  const cut = [lines.slice(1), lines.slice(0, -1), lines.slice(1, -1)].map((kept) => strip(kept.join("\n")));
  return [answer, ...cut].flatMap((form) => [form, form.replaceAll("*", "")]);
}
