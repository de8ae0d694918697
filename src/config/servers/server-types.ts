/** The kinds of servers, which are keys below the instance name in a config. */
export const serverTypes = [
  "resources_servers",
  "responses_api_agents",
  "responses_api_models",
  "environment_servers",
] as const;

export type ServerType = (typeof serverTypes)[number];

export function isServerType(value: unknown): value is ServerType {
  return (serverTypes as readonly unknown[]).includes(value);
}

/** The values of a server's `domain`. */
export const domains = [
  "math",
  "coding",
  "agent",
  "knowledge",
  "instruction_following",
  "long_context",
  "safety",
  "games",
  "translation",
  "e2e",
  "rlhf",
  "other",
] as const;

export type Domain = (typeof domains)[number];
