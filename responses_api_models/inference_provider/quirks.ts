import type { Quirks } from "../../libraries/chat-requests/chat-requests.ts";

/** Settings that only OpenAI's platform uses; some providers reject requests that contain them. */
const PLATFORM_KEYS = ["metadata", "store", "service_tier", "prompt_cache_key", "safety_identifier"] as const;

/** The known endpoints by name. */
export const PROVIDERS = {
  baseten: {
    baseUrl: "https://inference.baseten.co/v1",
    drops: PLATFORM_KEYS,
    noDeveloperRole: true,
  },
  deepinfra: {
    baseUrl: "https://api.deepinfra.com/v1/openai",
    drops: PLATFORM_KEYS,
    noDeveloperRole: true,
    statesCost: true,
  },
  fireworks: {
    baseUrl: "https://api.fireworks.ai/inference/v1",
    drops: PLATFORM_KEYS,
    noDeveloperRole: true,
  },
  friendli: {
    baseUrl: "https://api.friendli.ai/serverless/v1",
    drops: PLATFORM_KEYS,
    noDeveloperRole: true,
  },
  gemini: {
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
    drops: [...PLATFORM_KEYS, "parallel_tool_calls", "logit_bias", "user"],
    noDeveloperRole: true,
  },
  hf_inference: {
    baseUrl: "https://router.huggingface.co/v1",
    drops: PLATFORM_KEYS,
    noDeveloperRole: true,
  },
  nebius: {
    baseUrl: "https://api.tokenfactory.nebius.com/v1",
    drops: PLATFORM_KEYS,
    noDeveloperRole: true,
  },
  openrouter: {
    baseUrl: "https://openrouter.ai/api/v1",
    drops: ["store", "service_tier", "metadata"],
    adds: { usage: { include: true } },
    statesCost: true,
  },
  together: {
    baseUrl: "https://api.together.xyz/v1",
    drops: PLATFORM_KEYS,
    noDeveloperRole: true,
  },
} as const satisfies Record<string, Quirks>;

export type ProviderName = keyof typeof PROVIDERS;

/** The quirks of a named provider, or of the provider of a URL; undefined for unknown endpoints. */
export function quirksOf(
  name: ProviderName | null | undefined,
  baseUrl: string | undefined,
): Quirks | undefined {
  if (name) return PROVIDERS[name];
  const host = hostOf(baseUrl);
  return Object.values<Quirks>(PROVIDERS).find((quirks) => hostOf(quirks.baseUrl) === host);
}

/**
 * Whether `developer` messages are sent as `system`. Only OpenAI defines `developer`; the chat templates of most engines reject or
 * skip unknown roles, and all of them support `system`.
 */
export function renamesDeveloper(quirks: Quirks | undefined, baseUrl: string | undefined): boolean {
  if (quirks) return quirks.noDeveloperRole ?? false;
  const host = hostOf(baseUrl) ?? "";
  return host !== "api.openai.com" && !host.endsWith(".openai.azure.com");
}

function hostOf(url: string | undefined): string | undefined {
  return url !== undefined && URL.canParse(url) ? new URL(url).host : undefined;
}
