import { outputText, type Response } from "nemo-gym/openai";
import { isObject, strip } from "nemo-gym/python";

/** The answer without its thinking, and the thinking. An open tag hides everything after it. */
export function readAnswer(response: Response): { answer: string; reasoning: string } {
  const thoughts = response.output.flatMap((item) =>
    item.type === "reasoning" ? summaries(item.summary) : [],
  );
  const closed = outputText(response).replace(
    /<(think|thinking)>(.*?)<\/\1>/gis,
    (_, _tag, thought: string) => {
      thoughts.push(thought);
      return "";
    },
  );
  const open = /<think(?:ing)?>/i.exec(closed);
  if (open) thoughts.push(closed.slice(open.index + open[0].length));
  const answer = open ? closed.slice(0, open.index) : closed;
  const reasoning = thoughts.map((thought) => strip(thought)).filter((thought) => thought !== "");
  return { answer: strip(answer), reasoning: reasoning.join("\n\n") };
}

function summaries(parts: unknown): string[] {
  return (Array.isArray(parts) ? parts : []).flatMap((part: unknown) =>
    isObject(part) && typeof part["text"] === "string" ? part["text"] : [],
  );
}
