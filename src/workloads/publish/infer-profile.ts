import { existsSync, readFileSync } from "node:fs";
import { locateServer, ServerCodeError } from "../../hosting/locate-server.ts";
import type { IntegrationProfile } from "../catalog/manifest.ts";
import type { Component, Composition } from "./composition.ts";
import { inspectPythonAgent } from "./python-agent.ts";

export interface InferredProfile {
  readonly profile: IntegrationProfile | "unknown";
  /** What it was inferred from. */
  readonly evidence: string;
}

/** Tells from the config and from the text of the agent where an episode is driven. No code is loaded. */
export function inferProfile({ mirror, components }: Composition, roots: readonly string[]): InferredProfile {
  if (mirror.rollout_driver !== null) {
    return { profile: "external-rollout-driver", evidence: "the config names a rollout_collection_driver" };
  }
  if (mirror.agent_server === "simple_agent") {
    return { profile: "custom-gym-verifier", evidence: "the agent is simple_agent" };
  }
  const agent = components.find(({ role }) => role === "agent_server");
  const entry = agent === undefined ? undefined : entryOf(agent, roots);
  if (entry === undefined || !existsSync(entry))
    return { profile: "unknown", evidence: `the code of the agent '${mirror.agent_server}' was not found` };
  const source = readFileSync(entry, "utf8");
  return entry.endsWith(".py") ? inspectPythonAgent(source) : inspectAgent(source);
}

function entryOf(agent: Component, roots: readonly string[]): string | undefined {
  const { name, implementation, entrypoint } = agent;
  try {
    const instance = {
      name,
      type: "responses_api_agents",
      implementation,
      entrypoint: entrypoint ?? "app.ts",
    } as const;
    return locateServer(instance, roots).entry;
  } catch (error) {
    if (error instanceof ServerCodeError) return undefined;
    throw error;
  }
}

/** A member of the definition: `run(…) {`, `async run(…) {`, `run: …` or `run,`. */
const member = (name: string) => new RegExp(`^\\s*(?:async\\s+)?${name}\\s*[(:,]`, "m");

function inspectAgent(source: string): InferredProfile {
  if (!/\bdefineAgent\s*\(/.test(source))
    return { profile: "unknown", evidence: "the agent's file defines no agent with defineAgent" };
  if (member("run").test(source))
    return { profile: "external-agent-loop", evidence: "the agent has a run of its own" };
  if (member("responses").test(source))
    return { profile: "custom-gym-agent-loop", evidence: "the agent has a responses of its own" };
  return { profile: "unknown", evidence: "the agent's definition shows neither responses nor run" };
}

/** What to warn about when a manifest declares another profile than the code shows. */
export function profileWarnings(declared: string, { profile, evidence }: InferredProfile): string[] {
  if (profile === "unknown")
    return [`integration_profile could not be inferred (${evidence}); the manifest declares '${declared}'.`];
  if (profile === declared) return [];
  return [
    `integration_profile is declared as '${declared}', but what is there looks like '${profile}' (${evidence}).`,
  ];
}
