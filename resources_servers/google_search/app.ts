import { defineResourcesServer } from "nemo-gym";
import { laxFloat } from "nemo-gym/openai";
import { z } from "zod";
import { boxedOption } from "./boxed-option.ts";
import { browse, NO_HTML } from "./browse.ts";
import { DownloadError } from "./download.ts";
import { AddressRefusedError, GuardedAgent } from "./guarded-agent.ts";
import { isPublicAddress } from "./public-address.ts";
import { search } from "./search.ts";

const config = z.object({
  google_api_key: z.string(),
  google_cx: z.string(),
  /** Address of the search service; it must respond like Google's Custom Search. */
  search_endpoint: z.url().default("https://www.googleapis.com/customsearch/v1"),
  search_timeout_seconds: z.number().positive().default(10),
  browse_timeout_seconds: z.number().positive().default(20),
  browse_max_bytes: z.number().int().positive().default(5_000_000),
  browse_max_redirects: z.number().int().min(0).default(5),
  browse_user_agent: z.string().default("Mozilla/5.0 (compatible; nemo-gym)"),
  /** Lets `browse` reach addresses that are not on the public internet. */
  allow_private_addresses: z.boolean().default(false),
});

type Config = z.output<typeof config>;

const agents = new WeakMap<Config, GuardedAgent>();

function agentOf(settings: Config): GuardedAgent {
  let agent = agents.get(settings);
  if (agent === undefined) {
    agent = new GuardedAgent(settings.allow_private_addresses ? () => true : isPublicAddress);
    agents.set(settings, agent);
  }
  return agent;
}

/** Multiple choice with a search engine and a browser. */
export default defineResourcesServer({
  config,
  row: z.object({ expected_answer: z.string(), task_difficulty_qwen3_32b_avg_8: laxFloat() }),
  echo: [],
  reverifyMode: "stateless",
  tools: {
    search: {
      description: "Searches the web and returns up to ten results.",
      input: z.object({ query: z.string() }),
      run: async ({ input, config: settings, signal }) => {
        const options = {
          endpoint: settings.search_endpoint,
          apiKey: settings.google_api_key,
          engineId: settings.google_cx,
          timeoutMs: settings.search_timeout_seconds * 1000,
        };
        try {
          return { search_results: await search(input.query, options, signal) };
        } catch (error) {
          if (signal.aborted) throw error;
          return { search_results: `Error: Unexpected error - ${shown(error, settings)}` };
        }
      },
    },
    browse: {
      description: "Returns the text of a web page.",
      input: z.object({ url: z.string() }),
      run: async ({ input, config: settings, signal, server }) => {
        const limits = {
          maxBytes: settings.browse_max_bytes,
          maxRedirects: settings.browse_max_redirects,
          timeoutMs: settings.browse_timeout_seconds * 1000,
          userAgent: settings.browse_user_agent,
        };
        try {
          return { page_content: await browse(input.url, agentOf(settings), limits, signal) };
        } catch (error) {
          if (signal.aborted) throw error;
          const refused = refusal(error);
          if (refused !== undefined)
            return { page_content: `Error: Unexpected error = ${shown(refused, settings)}` };
          server.log.debug(`browse: ${shown(error, settings)}`);
          return { page_content: NO_HTML };
        }
      },
    },
  },
  stop: ({ config: settings }) => agents.get(settings)?.close(),
  verify: ({ row, response }) => {
    const option = boxedOption(response);
    return { reward: option === row.expected_answer ? 1 : 0, parsed_option: option };
  },
});

/** The error that explains why a request was not sent, even if the HTTP client has wrapped it. */
function refusal(error: unknown): Error | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof AddressRefusedError || cause instanceof DownloadError) return cause;
  }
  return undefined;
}

/** The text of an error for the model; it never contains the key. */
function shown(error: unknown, settings: Config): string {
  const message = error instanceof Error ? error.message : String(error);
  return settings.google_api_key === "" ? message : message.replaceAll(settings.google_api_key, "***");
}
