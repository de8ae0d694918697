import { printable } from "../base/door.ts";
import type { Mode, ReadAnswer } from "../math/index.ts";
import type { CommandContext } from "./command.ts";

interface Pair {
  readonly GOLD: string;
  readonly ANSWER: string;
}

interface Options {
  readonly mode: Mode;
  readonly text: boolean;
}

/** LaTeX marks or a box: the answer is part of a reply. */
const MARKED = /\\boxed|\\fbox|\$|\\\(|\\\[/;

/** Prints the verdict on one pair. */
export async function checkPair(context: CommandContext, pair: Pair, options: Options): Promise<number> {
  const { verifyAnswer } = await import("../math/index.ts");
  const text = options.text || MARKED.test(pair.ANSWER) ? pair.ANSWER : `\\boxed{${pair.ANSWER}}`;
  const verdict = verifyAnswer(pair.GOLD, text, { mode: options.mode });
  const { equal, rule, undecided, gold, answer } = verdict;
  if (context.json) context.out(JSON.stringify({ equal, rule, undecided, gold, answer }));
  else {
    context.out(equal ? "equal" : undecided ? "cannot tell, which counts as not equal" : "not equal");
    context.out(`  gold    ${describe(gold)}`);
    context.out(`  answer  ${describe(answer)}`);
    context.out(`  rule    ${rule}`);
  }
  return equal ? 0 : 1;
}

function describe({ parsed, text, problem }: ReadAnswer): string {
  if (parsed !== null) return printable(parsed);
  if (text === null) return "none found";
  return printable(`'${text}' cannot be read${problem === null ? "" : `: ${problem}`}`);
}
