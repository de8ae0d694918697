import { isObject, loadsPlain } from "nemo-gym/python";

export interface Verdict {
  passes: boolean;
  reasoning: string;
}

const NO_REASONING = "The judge gave no reason that can be read.";
const FENCE = /```(?:json)?\s*([\s\S]*?)```/;
const FIELD = /['"]?\bverdict['"]?\s*:\s*['"]?(pass|fail)\b/gi;
const REASONING = /['"]?\breasoning['"]?\s*:\s*("(?:[^"\\]|\\.)*")/i;

/** The verdict in the JSON of a reply: in a fence, else from the first brace to the one that closes it. */
export function readVerdict(reply: string): Verdict | undefined {
  const fenced = FENCE.exec(reply)?.[1];
  const value = (fenced === undefined ? undefined : parse(fenced)) ?? parse(firstObject(reply));
  if (!isObject(value)) return undefined;
  const { verdict, reasoning } = value;
  return {
    passes: typeof verdict === "string" && verdict.toLowerCase() === "pass",
    reasoning: typeof reasoning === "string" ? reasoning : "",
  };
}

/** The verdict of a reply that is no JSON. Contradictory ones are none: a judge may quote the files. */
export function findVerdict(reply: string): Verdict | undefined {
  const [verdict, ...others] = new Set(
    Array.from(reply.matchAll(FIELD), ([, found = ""]) => found.toLowerCase()),
  );
  if (verdict === undefined || others.length > 0) return undefined;
  const reasoning = parse(REASONING.exec(reply)?.[1]);
  return { passes: verdict === "pass", reasoning: typeof reasoning === "string" ? reasoning : NO_REASONING };
}

/** As in the original, braces inside of strings count too. */
function firstObject(text: string): string | undefined {
  const start = text.indexOf("{");
  let depth = 0;
  for (let index = start; start >= 0 && index < text.length; index++) {
    if (text[index] === "{") depth++;
    else if (text[index] === "}" && --depth === 0) return text.slice(start, index + 1);
  }
  return undefined;
}

function parse(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : loadsPlain(text);
  } catch {
    return undefined;
  }
}
