import { createJudge, defineResourcesServer, loadPromptYaml, type ServerContext } from "nemo-gym";
import { functionCalls, laxFloat, laxInt, outputText, type Response } from "nemo-gym/openai";
import { strip } from "nemo-gym/python";
import { z } from "zod";
import { compareAnswer } from "./answer.ts";
import { blockedReason } from "./bash-policy.ts";
import { Config, excludedDomains } from "./config.ts";
import { askJudge } from "./judging.ts";
import { isExcluded, pageBlock, resultBlock, TextList } from "./pages.ts";
import { openProvider, type PageProvider, SearchRejected } from "./providers.ts";
import { Workspace } from "./workspace.ts";

const MAX_QUERY = 400;
const MAX_URLS = 5;
const JUDGE_DEFAULTS = { max_output_tokens: 10_240, temperature: 1 };

interface ProviderCall {
  function: "search" | "browse";
  provider: string;
  status: "success" | "error";
  num_429_retries: number;
  num_other_retries: number;
}

const newSession = ({ server }: { server: ServerContext<Config> }) => ({
  calls: [] as ProviderCall[],
  workspace: server.config.workspace === "per_session" ? new Workspace(server) : undefined,
});
type Session = ReturnType<typeof newSession>;

/** Questions that need a long search in the web; a judge decides whether the answer is right. */
export const browsecompHarness = (createProvider: (server: ServerContext<Config>) => PageProvider) =>
  defineResourcesServer({
    config: Config,
    row: z.looseObject({ question: z.string(), ground_truth: z.string() }),
    echo: ["question", "ground_truth"],
    async start(server) {
      const { config } = server;
      const { judge_model_server: name } = config;
      const params = { ...JUDGE_DEFAULTS, ...config.judge_responses_create_params };
      const fields = ["question", "correct_answer", "response"];
      return {
        provider: createProvider(server),
        excluded: await excludedDomains(server),
        judge:
          config.use_judge && name != null
            ? createJudge(server, { ...config, judge_model_server: name }, { params })
            : undefined,
        prompt: (await loadPromptYaml(server, config.judge_prompt_path, fields)).user,
      };
    },
    session: newSession,
    unseeded: newSession,
    closeSession: ({ session }) => session.workspace?.close(),
    tools: {
      search: {
        description: "Searches the web for one or several queries.",
        input: z.object({ queries: TextList, max_total_length: laxInt().default(30_000) }),
        async run({ input, config, session, state, signal }) {
          const { queries } = input;
          if (queries.length === 0) return { results_string: "Query is none or empty" };
          const budget = Math.floor(input.max_total_length / queries.length);
          const found: string[] = [];
          for (const query of queries) {
            if ([...query].length > MAX_QUERY) {
              found.push("Query is too long");
              continue;
            }
            const options = { maxResults: config.max_results, excludeDomains: state.excluded, signal };
            try {
              const results = await recorded(session, config, "search", (onRetry) =>
                state.provider.search(query, { ...options, onRetry }),
              );
              found.push(await resultBlock(query, results, budget, session.workspace, signal));
            } catch (error) {
              if (!(error instanceof SearchRejected)) throw error;
              found.push(`Search failed: ${error.message}`);
            }
          }
          return { results_string: found.join("\n\n") };
        },
      },
      browse: {
        description: "Shows the text of up to five pages.",
        input: z.object({
          urls: TextList,
          goal: z.string().nullish(),
          max_total_length: laxInt().default(30_000),
        }),
        async run({ input, config, session, state, signal }) {
          if (input.urls.length === 0) return { results_string: "Error: no URLs provided." };
          const urls = input.urls.filter((url) => !isExcluded(url, state.excluded)).slice(0, MAX_URLS);
          if (urls.length === 0) return { results_string: "Error: all URLs are in excluded domains." };
          const budget = Math.floor(input.max_total_length / urls.length);
          try {
            const pages = await recorded(session, config, "browse", (onRetry) =>
              state.provider.extract(urls, { signal, onRetry }),
            );
            if (pages.length === 0) return { results_string: "No content found." };
            const blocks = pages.map((page) =>
              pageBlock(page, budget, config.max_page_bytes, session.workspace, signal),
            );
            return { results_string: (await Promise.all(blocks)).join("\n\n") };
          } catch (error) {
            signal.throwIfAborted();
            return {
              results_string: `Failed to extract content: ${error instanceof Error ? error.message : String(error)}`,
            };
          }
        },
      },
      bash_command: {
        description: "Runs a command that reads the stored pages.",
        input: z.object({ keystrokes: z.string().default(""), duration: laxFloat().default(10) }),
        async run({ input: { keystrokes, duration }, config, session, signal }) {
          if (!session.workspace)
            return { results_string: "[bash error: terminal workspace is not enabled for this server]" };
          const reason = blockedReason(keystrokes);
          if (reason !== undefined) return { results_string: `[blocked: ${reason}]\n[exit_code=-3]` };
          const seconds = Math.max(1, Math.min(config.bash_timeout_s, duration));
          return { results_string: await session.workspace.run(keystrokes, seconds, signal) };
        },
      },
    },
    async verify({ config, row, response, session, state: { judge, prompt }, signal }) {
      await session.workspace?.close();
      const { calls } = session;
      const sum = (key: "num_429_retries" | "num_other_retries") =>
        calls.reduce((total, call) => total + call[key], 0);
      const counted = {
        ...countsOf(response),
        metrics: { async_tavily_calls: calls },
        num_provider_429s: sum("num_429_retries"),
        num_provider_other_retries: sum("num_other_retries"),
      };
      const answer = lastAnswer(response);
      if (!judge) return { ...compareAnswer(answer, row.ground_truth), judge_response: null, ...counted };
      const text = prompt.render({
        question: judge.fit(row.question),
        correct_answer: judge.fit(row.ground_truth),
        response: judge.fit(strip(answer.replace(/<think>.*?<\/think>/gs, ""))),
      });
      return { ...(await askJudge(judge, text, config.judge_retry_delay_factor, signal)), ...counted };
    },
  });

export default browsecompHarness(openProvider);

/** Runs a call of the provider and records it. */
async function recorded<Value>(
  session: Session,
  config: Config,
  name: ProviderCall["function"],
  run: (onRetry: (status: number) => void) => Promise<Value>,
): Promise<Value> {
  const call: ProviderCall = {
    ...{ function: name, provider: config.search_provider, status: "error" },
    ...{ num_429_retries: 0, num_other_retries: 0 },
  };
  session.calls.push(call);
  const value = await run((status) => {
    call[status === 429 ? "num_429_retries" : "num_other_retries"]++;
  });
  call.status = "success";
  return value;
}

/** The text of the last message with one. */
function lastAnswer({ output }: Response): string {
  const texts = output.map((item) => (item.type === "message" ? outputText({ output: [item] }) : ""));
  return texts.findLast((text) => strip(text) !== "") ?? "";
}

/** An agent that resets its context reports what its response no longer shows. */
function countsOf(response: Response) {
  const { num_tool_calls, reset_count } = response as Response & Record<string, unknown>;
  return {
    num_tool_calls: typeof num_tool_calls === "number" ? num_tool_calls : functionCalls(response).length,
    reset_count: typeof reset_count === "number" ? reset_count : 0,
  };
}
