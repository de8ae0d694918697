import { lstrip, strip } from "nemo-gym/python";
import { escapePattern, removeTagged } from "../../libraries/text-measures/tagged.ts";

const fence = "```";

/** The text in which the JSON object is expected: without reasoning in `<tag>`, and inside a code block if there is one. */
export function answerJson(text: string, tag: string): string {
  const answer = withoutReasoning(text, tag);
  if (!answer.includes(fence)) return answer;
  const whole = answer.length >= 2 * fence.length && answer.startsWith(fence) && answer.endsWith(fence);
  if (whole) return blockContent(answer.slice(fence.length, -fence.length));
  // Every second part is the inside of a block; the last part follows the last fence.
  const blocks = answer.split(fence).slice(1, -1);
  const contents = blocks.filter((_, index) => index % 2 === 0).map((block) => blockContent(block));
  return contents.find((content) => content !== "") ?? answer;
}

function blockContent(block: string): string {
  return strip(block.replace(/^json/i, ""));
}

/** Tags in any case. Without an opening tag the reasoning begins with the text; an opening tag that is not closed is only removed. */
function withoutReasoning(text: string, tag: string): string {
  const pairless = removeTagged(text, `<${tag}>`, `</${tag}>`);
  const closing = [...pairless.matchAll(new RegExp(escapePattern(`</${tag}>`), "gi"))].at(-1);
  const answer = closing ? lstrip(pairless.slice(closing.index + closing[0].length)) : pairless;
  return strip(answer.replace(new RegExp(escapePattern(`<${tag}>`), "gi"), ""));
}
