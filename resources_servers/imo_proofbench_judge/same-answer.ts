import type { AnswerChecker } from "nemo-gym/math";
import { strip } from "nemo-gym/python";

/** Whether an answer equals the expected one without a judge: the same option, the same text or the same value. */
export async function isSameAnswer(
  checker: Pick<AnswerChecker, "check">,
  expected: string,
  answer: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (/^[A-J]$/.test(strip(expected))) return /^\W*([A-J])\W*$/.exec(answer)?.[1] === strip(expected);
  const [gold, given] = [tidy(expected), tidy(answer)];
  if (bare(gold) === bare(given)) return true;
  const isText = [gold, given].every((text) => /^[a-zA-Z ,]+$/.test(text));
  return !isText && (await checker.check(gold, inMath(given), signal)).equal;
}

/** Without the sign of a percentage and without a full stop or backslash at the end. */
function tidy(text: string): string {
  const [, number = text] = /^\s*(-?[\d.,]+)\s*\\?%\s*$/.exec(text) ?? [];
  return strip(number).replace(/[.\\]+$/, "");
}

/** Without what does not change the meaning: spaces, dollar signs and sizes of brackets. */
function bare(text: string): string {
  return text.replace(/\\left|\\right|\\[,;:! ]|[\s$]/g, "");
}

function inMath(text: string): string {
  return /\$.*\$|\\\(.*\\\)|\\\[.*\\\]|\\boxed\{/s.test(text) ? text : `$${text}$`;
}
