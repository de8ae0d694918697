import { readFile } from "node:fs/promises";
import { judgeConfig, type ServerContext } from "nemo-gym";
import { laxBool, laxInt } from "nemo-gym/openai";
import { sandboxConfig } from "nemo-gym/sandbox";
import { z } from "zod";

const keys = z.union([z.string(), z.array(z.string()).min(1)]).nullish();
const positive = laxInt().pipe(z.number().positive());

export const Config = z
  .object({
    ...judgeConfig,
    ...sandboxConfig,
    judge_model_server: judgeConfig.judge_model_server.nullish(),
    use_judge: laxBool().default(true),
    judge_prompt_path: z.string().default("prompts/judge.yaml"),
    /** Factor of the waits of 1, 2, 4 … seconds after a call of the judge that failed. */
    judge_retry_delay_factor: z.number().nonnegative().default(1),
    search_provider: z.enum(["tavily", "exa"]).default("tavily"),
    /** One key, or several that are used in turn. */
    tavily_api_key: keys,
    exa_api_key: keys,
    tavily_base_url: z.url().default("https://api.tavily.com"),
    exa_base_url: z.url().default("https://api.exa.ai"),
    search_timeout_seconds: z.number().positive().default(60),
    max_results: positive.default(5),
    /** JSON file with the domains that must not be shown: `notices[].properties[]` with the type `domain`. */
    exclude_domains_file_path: z.string().nullish(),
    exclude_domains: z.array(z.string()).default([]),
    /** `per_session`: pages become files of a sandbox, in which the model runs commands that read them. */
    workspace: z.enum(["none", "per_session"]).default("none"),
    bash_timeout_s: positive.default(60),
    bash_max_concurrency: positive.default(64),
    max_page_bytes: positive.default(2_000_000),
  })
  .refine(({ use_judge, judge_model_server }) => !use_judge || judge_model_server != null, {
    error: "is required with use_judge",
    path: ["judge_model_server"],
  })
  .refine(({ search_provider, tavily_api_key }) => search_provider !== "tavily" || tavily_api_key != null, {
    error: "is required with the provider tavily",
    path: ["tavily_api_key"],
  })
  .refine(({ search_provider, exa_api_key }) => search_provider !== "exa" || exa_api_key != null, {
    error: "is required with the provider exa",
    path: ["exa_api_key"],
  });
export type Config = z.output<typeof Config>;

const Notices = z.looseObject({
  notices: z.array(
    z.looseObject({ properties: z.array(z.looseObject({ type: z.string().nullish(), value: z.unknown() })) }),
  ),
});

/** The domains of the config and of its file. */
export async function excludedDomains({ config, findFile }: ServerContext<Config>): Promise<string[]> {
  const { exclude_domains, exclude_domains_file_path: file } = config;
  if (file == null) return exclude_domains;
  const { notices } = Notices.parse(JSON.parse(await readFile(findFile(file), "utf8")));
  const properties = notices.flatMap((notice) => notice.properties);
  return [
    ...exclude_domains,
    ...properties.flatMap(({ type, value }) => (type === "domain" ? [String(value)] : [])),
  ];
}
