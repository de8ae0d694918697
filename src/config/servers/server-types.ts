/** The three kinds of servers; a config writes them as keys below the instance name. */
export const serverTypes = ["resources_servers", "responses_api_agents", "responses_api_models"] as const;

export type ServerType = (typeof serverTypes)[number];

export function isServerType(value: unknown): value is ServerType {
  return (serverTypes as readonly unknown[]).includes(value);
}

/** Fields of knowledge and skill a server may declare as its `domain`. */
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
