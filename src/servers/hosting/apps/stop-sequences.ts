import type { Response, ResponseOutputItem } from "../../../wire/schemas/door.ts";
import { withoutTokens } from "../../../wire/tokens/door.ts";

/** A response up to its first stop sequence. */
export interface StoppedResponse {
  response: Response;
  /** The stop sequence that was found. */
  stopped: string | null;
}

/**
 * Ends a response before the first of `stops`, as a backend would that knows stop sequences. Items that a cut changes lose
 * their token lists, which contain the tokens after the cut.
 */
export function cutAtStop(response: Response, stops: readonly string[]): StoppedResponse {
  const sought = stops.filter((stop) => stop !== "");
  for (const [index, item] of response.output.entries()) {
    if (item.type !== "message" || typeof item.content === "string") continue;
    for (const [at, part] of item.content.entries()) {
      if (part.type !== "output_text") continue;
      const found = firstOf(part.text, sought);
      if (found === undefined) continue;
      const content = [...item.content.slice(0, at), { ...part, text: part.text.slice(0, found.index) }];
      const last = withoutTokens({ ...item, content }) as ResponseOutputItem;
      const output = [...response.output.slice(0, index), last];
      return {
        response: { ...response, output, status: "completed", incomplete_details: null },
        stopped: found.stop,
      };
    }
  }
  return { response, stopped: null };
}

function firstOf(text: string, stops: readonly string[]): { stop: string; index: number } | undefined {
  return stops
    .map((stop) => ({ stop, index: text.indexOf(stop) }))
    .filter(({ index }) => index !== -1)
    .sort((a, b) => a.index - b.index)[0];
}
