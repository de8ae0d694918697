import { readFile } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import { createJudge, defineResourcesServer, loadPromptYaml, type ServerContext } from "nemo-gym";
import { functionCalls, laxInt, outputText } from "nemo-gym/openai";
import { codePointLength, strip } from "nemo-gym/python";
import { firstLabel, lastPartOfLastMessage, onlyLabel } from "nemo-gym/verify";
import { z } from "zod";
import type { SearchProvider } from "../../libraries/web-search/provider.ts";
import { tavily } from "../../libraries/web-search/tavily.ts";
import { compareAnswer } from "./compare-answer.ts";
import { Config, domainsOf } from "./config.ts";
import { localIndex, Page } from "./local-index.ts";
import { formatExtract, formatResult, formatWords, hostOf, isExcluded } from "./page-text.ts";
import { type ProviderCall, recorded, remember } from "./provider-calls.ts";

const maxQueryCharacters = 400;
const ACCEPTS = "correct: yes";
const VERDICTS = [ACCEPTS, "correct: no"];
const EXCLUDED = "URL is in excluded domains";

/** Questions that need a search; a judge, or a comparison, decides whether the answer is right. */
export function tavilySearch(createProvider: (server: ServerContext<Config>) => Promise<SearchProvider>) {
  return defineResourcesServer({
    config: Config,
    row: z.object({ question: z.string(), ground_truth: z.string() }),
    async start(server) {
      const { use_judge, judge_model_server, judge_prompt_path, exclude_domains, ...config } = server.config;
      const file = config.exclude_domains_file_path;
      const judged = use_judge && judge_model_server != null;
      return {
        provider: await createProvider(server),
        excludeDomains: [
          ...exclude_domains,
          ...(file == null ? [] : domainsOf(await readText(server, file))),
        ],
        /** The text of each page that was scrolled. */
        pages: new Map<string, string>(),
        judge: judged ? createJudge(server, { ...config, judge_model_server }) : undefined,
        prompt: (await loadPromptYaml(server, judge_prompt_path, ["question", "correct_answer", "response"]))
          .user,
      };
    },
    session: () => ({ calls: [] as ProviderCall[] }),
    unseeded: () => ({ calls: [] as ProviderCall[] }),
    tools: {
      web_search: {
        description: "Searches the web and returns up to ten results.",
        input: z.object({ query: z.string().nullish() }),
        async run({ input: { query }, session, state, signal }) {
          if (query == null) return { results_string: "Query is none" };
          if (codePointLength(query) > maxQueryCharacters) return { results_string: "Query is too long" };
          const { provider, excludeDomains } = state;
          const reply = await recorded(session.calls, "search", () =>
            provider.search(query, { excludeDomains, signal }),
          );
          if (reply.answer != null)
            return { results_string: `Search Answer\n==============\n${reply.answer}\n` };
          const results = reply.results.map(({ url, title, content }, index) =>
            formatResult(index + 1, url, title, content ?? ""),
          );
          return { results_string: `Search Results\n==============\n${results.join("")}` };
        },
      },
      find_in_page: {
        description: "Returns what a page says about a query.",
        input: z.object({ url: z.string().nullish(), query: z.string().nullish() }),
        async run({ input: { url, query }, session, state, signal }) {
          if (url == null) return { results_string: "URL is none" };
          if (query == null) return { results_string: "Query is none" };
          if (isExcluded(hostOf(url), state.excludeDomains)) return { results_string: EXCLUDED };
          const content = await recorded(session.calls, "extract", () =>
            state.provider.extract(url, { query, signal }),
          );
          return {
            results_string: content === "" ? "No content found." : formatExtract(url, query, content),
          };
        },
      },
      scroll_page: {
        description: "Returns some words of a page, from start_index on.",
        input: z.object({
          url: z.string().nullish(),
          start_index: laxInt().default(0),
          n: laxInt().default(2000),
        }),
        async run({
          input: { url, start_index, n },
          session,
          state: { provider, pages, excludeDomains },
          signal,
        }) {
          if (url == null) return { results_string: "URL is none", total_words: 0 };
          if (isExcluded(hostOf(url), excludeDomains)) return { results_string: EXCLUDED, total_words: 0 };
          let content = pages.get(url);
          if (content === undefined) {
            content = await recorded(session.calls, "extract", () => provider.extract(url, { signal }));
            remember(pages, url, content);
          }
          const { text, total } = formatWords(url, content, start_index, n);
          return { results_string: text, total_words: total };
        },
      },
    },
    async verify({ config, row, session, state: { judge, prompt }, signal, response }) {
      const text = outputText(response);
      const counted = {
        num_tool_calls: functionCalls(response).length,
        metrics: { async_tavily_calls: session.calls },
      };
      if (!judge) return { ...compareAnswer(text, row.ground_truth), ...counted };
      let reasoning = "";
      const question = prompt.render({
        question: judge.fit(row.question),
        correct_answer: judge.fit(row.ground_truth),
        response: judge.fit(text),
      });
      const asked = await judge.ask(question, {
        signal,
        parse(_, reply) {
          reasoning = lastPartOfLastMessage(reply) ?? "";
          const read = config.first_verdict_counts ? firstLabel : onlyLabel;
          return read(reasoning, VERDICTS);
        },
      });
      return {
        reward: asked.verdict === ACCEPTS ? 1 : 0,
        judge_response_create_params: asked.params,
        reasoning,
        extracted_final_answer: asked.verdict?.slice("correct: ".length) ?? "",
        judge_response: asked.response,
        ...counted,
      };
    },
  });
}

/** Reads a file of the server's folder, or one that is found like a config. */
async function readText(server: ServerContext<Config>, path: string): Promise<string> {
  const beside = isAbsolute(path) ? path : join(server.directory, path);
  return readFile(beside, "utf8").catch(() => readFile(server.findFile(path), "utf8"));
}

export default tavilySearch(async (server) => {
  const { search_provider, tavily_api_key, tavily_base_url, search_timeout_seconds, local_pages_path } =
    server.config;
  if (search_provider === "local") {
    const lines = (await readText(server, local_pages_path ?? ""))
      .split("\n")
      .filter((line) => strip(line) !== "");
    return localIndex(lines.map((line) => Page.parse(JSON.parse(line))));
  }
  return tavily({
    baseUrl: tavily_base_url.replace(/\/+$/, ""),
    apiKeys: [tavily_api_key ?? []].flat(),
    timeoutMs: search_timeout_seconds * 1000,
  });
});
