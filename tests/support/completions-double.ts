import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What the double answers besides echoed log probabilities. */
type Mode = "echo" | "no logprobs" | "no echo";

export interface CompletionsDouble {
  readonly url: string;
  readonly requests: readonly { readonly prompt: readonly string[] }[];
  close(): Promise<void>;
}

/** The log probability of a word: words that were seen before in the text are likely. */
function logprobOf(token: string, before: readonly string[]): number {
  return before.some((word) => word.trim() === token.trim()) ? -0.5 : -1 - token.length / 4;
}

/** Answers `/v1/completions` with `echo` and `logprobs` as vLLM does. Its tokens are words with the blanks before them. */
export async function startCompletions(mode: Mode = "echo"): Promise<CompletionsDouble> {
  const requests: { prompt: string[] }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      response.setHeader("content-type", "application/json");
      if (request.method === "GET") return response.end('{"object": "list", "data": [{"id": "base"}]}');
      const body = JSON.parse(Buffer.concat(chunks).toString()) as { prompt: string[] };
      requests.push(body);
      const choices = body.prompt.map((prompt, index) => choiceOf(prompt, index, mode));
      response.end(
        JSON.stringify({ id: "c", object: "text_completion", created: 0, model: "base", choices }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function choiceOf(prompt: string, index: number, mode: Mode): object {
  if (mode === "no logprobs") return { index, text: " next", logprobs: null };
  const words = mode === "no echo" ? [] : (prompt.match(/\s*\S+|\s+$/g) ?? []);
  const tokens = [...words, " next"];
  const values = tokens.map((token, at) => (at === 0 ? null : logprobOf(token, tokens.slice(0, at))));
  const top = tokens.map((token, at) => {
    const value = values[at] ?? null;
    return value === null ? null : { [token]: value, ...(value < -0.5 && { " likely": -0.1 }) };
  });
  let at = 0;
  const offsets = tokens.map((token) => {
    at += [...token].length;
    return at - [...token].length;
  });
  return {
    index,
    text: prompt,
    logprobs: { tokens, token_logprobs: values, top_logprobs: top, text_offset: offsets },
  };
}
