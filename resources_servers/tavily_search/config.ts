import { judgeConfig } from "nemo-gym";
import { laxBool } from "nemo-gym/openai";
import { z } from "zod";

export const Config = z
  .object({
    ...judgeConfig,
    judge_model_server: judgeConfig.judge_model_server.nullish(),
    use_judge: z.boolean().default(true),
    /** As in the original: the first verdict of a reply counts, whatever follows. Default: a reply with both has none. */
    first_verdict_counts: laxBool().default(false),
    judge_prompt_path: z.string().default("prompts/judge.yaml"),
    /** `tavily`: the search service. `local`: the pages of `local_pages_path`. */
    search_provider: z.enum(["tavily", "local"]).default("tavily"),
    /** One key, or several that are used in turn. */
    tavily_api_key: z.union([z.string(), z.array(z.string()).min(1)]).nullish(),
    tavily_base_url: z.url().default("https://api.tavily.com"),
    search_timeout_seconds: z.number().positive().default(60),
    /** JSONL file with `url`, `title` and `content` of each page. */
    local_pages_path: z.string().nullish(),
    /** JSON file with the domains that must not be searched: `notices[].properties[]` with the type `domain`. */
    exclude_domains_file_path: z.string().nullish(),
    exclude_domains: z.array(z.string()).default([]),
  })
  .refine(({ use_judge, judge_model_server }) => !use_judge || judge_model_server != null, {
    error: "is required with use_judge",
    path: ["judge_model_server"],
  })
  .refine(({ search_provider, tavily_api_key }) => search_provider !== "tavily" || tavily_api_key != null, {
    error: "is required with the provider tavily",
    path: ["tavily_api_key"],
  })
  .refine(
    ({ search_provider, local_pages_path }) => search_provider !== "local" || local_pages_path != null,
    {
      error: "is required with the provider local",
      path: ["local_pages_path"],
    },
  );

export type Config = z.output<typeof Config>;

const Notices = z.looseObject({
  notices: z.array(
    z.looseObject({
      properties: z.array(z.looseObject({ type: z.string().nullish(), value: z.unknown() })),
    }),
  ),
});

/** The domains of a file with notices. */
export function domainsOf(text: string): string[] {
  const { notices } = Notices.parse(JSON.parse(text));
  const properties = notices.flatMap((notice) => notice.properties);
  return properties.flatMap(({ type, value }) => (type === "domain" ? [String(value)] : []));
}
