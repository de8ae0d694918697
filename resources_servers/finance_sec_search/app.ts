import {
  createJudge,
  defineResourcesServer,
  errorMessage,
  JudgeError,
  loadPromptText,
  type ServerContext,
} from "nemo-gym";
import { functionCalls, laxInt, outputText } from "nemo-gym/openai";
import { dumps, isObject, loadsPlain, strip } from "nemo-gym/python";
import { lastPartOfLastMessage, lastUserText, retryJudge } from "nemo-gym/verify";
import { z } from "zod";
import { tavily } from "../../libraries/web-search/tavily.ts";
import { Config } from "./config.ts";
import { Documents, RangeList, TextList } from "./documents.ts";
import { FilingIndex } from "./filings.ts";
import { pageText } from "./page-text.ts";
import { liveWeb, type Web } from "./web.ts";

const TOOLS = "sec_filing_search, parse_html_page, retrieve_information, submit_final_result, web_search";
const SEC_ARCHIVE = "https://www.sec.gov/Archives/";
const ATTEMPTS = 3;
const BEST_RATING = 2;
const MAX_QUOTED = 500;
const UNANSWERED = { reward: 0, judge_rating: 0, judge_text: "The rollout has no final result." };

const text = z.string().nullish();
const newSession = () => ({ documents: new Documents(), startedAt: performance.now() });
type Session = ReturnType<typeof newSession>;

/** Questions about companies, answered from their filings at SEC; a judge rates the answer. */
export const financeSecSearch = (openWeb: (server: ServerContext<Config>) => Web) =>
  defineResourcesServer({
    config: Config,
    row: z.object({ question: z.string(), expected_answer: z.string() }),
    seed: z.looseObject({}),
    echo: ["expected_answer"],
    async start(server) {
      const { config } = server;
      const { judge_model_server: name, tavily_api_key: keys } = config;
      const options = { timeoutMs: config.judge_call_timeout * 1000 };
      const web = openWeb(server);
      const { tavily_base_url: baseUrl, request_timeout } = config;
      return {
        web,
        filings: new FilingIndex(web),
        judge:
          name == null ? undefined : createJudge(server, { ...config, judge_model_server: name }, options),
        template:
          config.judge_prompt_template ?? (await loadText(server, config.judge_prompt_template_fpath)),
        search:
          keys == null
            ? undefined
            : tavily({ baseUrl, apiKeys: [keys].flat(), timeoutMs: request_timeout * 1000 }),
      };
    },
    stop: (_server, { web }) => web.close(),
    session: newSession,
    unseeded: newSession,
    tools: {
      sec_filing_search: {
        description: "Lists the filings of a company at SEC, the newest first.",
        input: z.object({ ticker: z.string(), form_types: TextList, start_date: text, end_date: text }),
        run: ({ input, config, session, state, signal }) =>
          timed(session, config, () => {
            const ends = [input.end_date, config.max_end_date].filter((date) => date != null);
            return state.filings.search(
              {
                ticker: input.ticker,
                formTypes: input.form_types ?? [],
                startDate: input.start_date ?? undefined,
                endDate: ends.sort()[0],
                limit: config.max_filing_results,
              },
              signal,
            );
          }),
      },
      parse_html_page: {
        description: "Fetches a page and stores its text under a key.",
        input: z.object({ url: z.string(), key: z.string() }),
        run: ({ input: { url, key }, config, session, state, signal }) =>
          timed(session, config, async () => {
            if (strip(url) === "") return "ERROR: url is required.";
            if (strip(key) === "") return "ERROR: key is required.";
            const html = await state.web.text(url, signal);
            if (html === undefined)
              return url.startsWith(SEC_ARCHIVE)
                ? `Failed to download filing from ${url}. The SEC server may be temporarily unavailable.`
                : `Failed to fetch ${url}. The server may be temporarily unavailable.`;
            return session.documents.save(key, pageText(html));
          }),
      },
      retrieve_information: {
        description: "Asks a model about stored pages, which the prompt names as {{key}}.",
        input: z.object({ prompt: z.string(), input_character_ranges: RangeList }),
        run: ({ input, config, session, server, signal }) =>
          timed(session, config, () =>
            retrieve(
              server,
              session.documents.fill(input.prompt, input.input_character_ranges ?? []),
              signal,
            ),
          ),
      },
      submit_final_result: {
        description: "Submits the final answer. This ends the task.",
        input: z.object({ final_result: z.string() }),
        run: ({ input: { final_result } }) => ({ results: dumps({ success: true, result: final_result }) }),
      },
      web_search: {
        description: "Searches the web.",
        input: z.object({
          search_query: z.string(),
          number_of_results: laxInt().pipe(z.number().min(1).max(20)).default(10),
        }),
        run: ({ input, config, session, state, signal }) =>
          timed(session, config, async () => {
            if (!state.search)
              return dumps({
                error:
                  "web_search is not available. Use sec_filing_search, parse_html_page, and retrieve_information instead.",
              });
            const { results } = await state.search.search(input.search_query, { excludeDomains: [], signal });
            return dumps(results.slice(0, input.number_of_results), { indent: 2 });
          }),
      },
    },
    fallbackTool: {
      run: ({ name }) => ({
        results: dumps({ error: `Tool '${name}' does not exist. Available tools: ${TOOLS}` }),
      }),
    },
    async verify({ config, row, params, session, response, state: { judge, template }, signal }) {
      session.documents.clear();
      const answer = submittedResult(response);
      if (answer === undefined) return UNANSWERED;
      const { expected_answer: expected } = row;
      if (!judge) {
        const reward = answer.toLowerCase().includes(expected.toLowerCase());
        return { reward, judge_rating: null, judge_text: null };
      }
      const prompt = template
        .replaceAll("{question}", () => lastUserText(params.input))
        .replaceAll("{expected_answer}", () => judge.fit(expected))
        .replaceAll("{generated_answer}", () => judge.fit(answer));
      let judged: string | null = null;
      let isAnswered = false;
      const ask = async () => {
        isAnswered = false;
        const reply = await judge.ask(prompt, {
          signal,
          parse: (_, { output }) => {
            judged = lastPartOfLastMessage({ output }) ?? judged;
            return ratingOf(judged ?? "", config.first_verdict_counts);
          },
        });
        isAnswered = true;
        if (reply.verdict === null) throw new JudgeError("The judge answered without a rating.");
        return reply.verdict;
      };
      const delay = (attempt: number) => 2 ** (attempt - 1) * config.judge_retry_delay_factor;
      const rating = await retryJudge(ask, { attempts: ATTEMPTS, delay, signal })
        .then(({ reply }) => reply)
        .catch((error: unknown) => {
          // The judge was asked and did not decide: that is not a failure of its endpoint.
          if (isAnswered && error instanceof JudgeError) return null;
          throw error;
        });
      const isScaled = config.reward_mode === "scaled" && (rating === 1 || rating === BEST_RATING);
      const reward = isScaled ? rating / BEST_RATING : Number(rating === BEST_RATING);
      return { reward, judge_rating: rating, judge_text: judged };
    },
  });

export default financeSecSearch(liveWeb);

async function loadText(server: ServerContext<Config>, path: string): Promise<string> {
  return (await loadPromptText(server, path)).render({
    question: "{question}",
    expected_answer: "{expected_answer}",
    generated_answer: "{generated_answer}",
  });
}

/** Runs a tool if the rollout still has time. */
async function timed(session: Session, config: Config, run: () => string | Promise<string>) {
  const limit = config.max_rollout_time_seconds;
  if (limit != null && performance.now() - session.startedAt > limit * 1000)
    return { results: "ERROR: The time of this task is over. Call submit_final_result now." };
  return { results: await run() };
}

async function retrieve(
  { client, config }: ServerContext<Config>,
  filled: { text: string } | { error: string },
  signal: AbortSignal,
): Promise<string> {
  if ("error" in filled) return filled.error;
  const { retrieval_model_server: name } = config;
  if (name == null) return "ERROR: retrieval_model_server is not set.";
  const input = [
    { role: "system", content: config.retrieval_system_prompt },
    { role: "user", content: filled.text },
  ];
  const tokens = config.retrieval_max_output_tokens;
  const body = { input, ...(tokens != null && { max_output_tokens: tokens }) };
  try {
    const reply = await client.post(name, "/v1/responses", body, { signal, idempotent: true });
    if (!reply.ok) return `ERROR: Retrieval LLM HTTP ${reply.status}: ${reply.text().slice(0, MAX_QUOTED)}`;
    const value = reply.json();
    const output = isObject(value) && Array.isArray(value["output"]) ? value["output"] : [];
    return outputText({ output }) || "ERROR: The retrieval model answered without a text.";
  } catch (error) {
    signal.throwIfAborted();
    return `ERROR: Retrieval LLM call failed: ${errorMessage(error)}`;
  }
}

/** The text of the last submission. */
function submittedResult(response: Parameters<typeof functionCalls>[0]): string | undefined {
  const last = functionCalls(response).findLast(({ name }) => name === "submit_final_result");
  try {
    const given = loadsPlain(last?.arguments ?? "");
    const result = isObject(given) ? given["final_result"] : undefined;
    return typeof result === "string" && result !== "" ? result : undefined;
  } catch {
    return undefined;
  }
}

/** The number in double brackets; null without one, or if a reply has different ones. */
function ratingOf(reply: string, firstCounts: boolean): number | null {
  const ratings = [...reply.matchAll(/\[\[(\d+)\]\]/g)].map(([, digits]) => Number(digits));
  const [first, ...others] = firstCounts ? ratings : new Set(ratings);
  return first !== undefined && (firstCounts || others.length === 0) ? first : null;
}
