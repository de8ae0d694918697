import { existsSync, readFileSync } from "node:fs";
import { WorkloadError } from "../../../config/errors.ts";
import { candidatePaths } from "../../../config/paths.ts";
import { existingScript, readPrepareSpec } from "../../../data/door.ts";
import { locateRolloutDriver } from "../../../run/light-door.ts";
import { locateServer, ServerCodeError } from "../../../servers/hosting/light-door.ts";
import type { IntegrationProfile } from "../catalog/manifest.ts";
import type { Component, Composition } from "./composition.ts";

interface InferredProfile {
  readonly profile: IntegrationProfile | "unknown";
  /** The reason. */
  readonly evidence: string;
}

/** Infers the profile from the config and from the source text of the agent. No code is loaded. */
export function inferProfile(
  { manifestFields, components }: Composition,
  roots: readonly string[],
): InferredProfile {
  if (manifestFields.rollout_driver !== null) {
    return { profile: "external-rollout-driver", evidence: "the config names a rollout_collection_driver" };
  }
  if (manifestFields.agent_server === "simple_agent") {
    return { profile: "custom-gym-verifier", evidence: "the agent is simple_agent" };
  }
  const agent = components.find(({ role }) => role === "agent_server");
  const entry = agent === undefined ? undefined : entryOf(agent, roots);
  if (entry === undefined || !existsSync(entry))
    return {
      profile: "unknown",
      evidence: `the code of the agent '${manifestFields.agent_server}' was not found`,
    };
  const source = readFileSync(entry, "utf8");
  return entry.endsWith(".py") ? inspectPythonAgent(source) : inspectAgent(source);
}

function entryOf(agent: Component, roots: readonly string[]): string | undefined {
  const { name, implementation, entrypoint } = agent;
  const type = "responses_api_agents";
  try {
    return locateServer({ name, type, implementation, entrypoint: entrypoint ?? "app.ts" }, roots).entry;
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
    return { profile: "external-agent-loop", evidence: "the agent has its own run" };
  if (member("responses").test(source))
    return { profile: "custom-gym-agent-loop", evidence: "the agent has its own responses" };
  return { profile: "unknown", evidence: "the agent's definition shows neither responses nor run" };
}

/** Warnings if the manifest declares another profile than the code shows. */
export function profileWarnings(declared: string, { profile, evidence }: InferredProfile): string[] {
  if (profile === "unknown")
    return [`integration_profile could not be inferred (${evidence}); the manifest declares '${declared}'.`];
  if (profile === declared) return [];
  return [
    `integration_profile is declared as '${declared}', but the code looks like '${profile}' (${evidence}).`,
  ];
}

const METHOD = /^([ \t]+)(?:async +)?def +responses *\(/m;
const SUPER_CALL = /^return +(?:await +)?super\(\)\.responses\(/;
const NOT_IMPLEMENTED = /^raise +NotImplementedError\b/;

/** Infers the profile of an agent written in Python from its source text. */
export function inspectPythonAgent(source: string): InferredProfile {
  const method = METHOD.exec(source);
  if (method !== null) {
    const body = statements(source, method.index, method[1]?.length ?? 0);
    if (body.length === 1 && SUPER_CALL.test(body[0] ?? ""))
      return { profile: "unknown", evidence: "the agent's responses() only calls that of its base class" };
    if (body.length === 1 && NOT_IMPLEMENTED.test(body[0] ?? ""))
      return {
        profile: "external-agent-loop",
        evidence: "the agent's responses() raises NotImplementedError",
      };
    if (body.some((line) => NOT_IMPLEMENTED.test(line)))
      return { profile: "unknown", evidence: "what the agent's responses() does depends on its config" };
    return { profile: "custom-gym-agent-loop", evidence: "the agent has its own responses()" };
  }
  if (/^class +\w+\((?:[^)]*[,. ])?SimpleAgent\b/m.test(source))
    return { profile: "custom-gym-verifier", evidence: "the agent keeps the responses() of SimpleAgent" };
  return { profile: "unknown", evidence: "the agent's class shows no responses()" };
}

/** The lines of a method body without blank lines, comments and the docstring. */
function statements(source: string, start: number, indent: number): string[] {
  const lines = source.slice(start).split("\n");
  const opened = lines.findIndex((line) => /:\s*(?:#.*)?$/.test(line));
  const body: string[] = [];
  for (const line of lines.slice(opened + 1)) {
    if (line.trim() !== "" && line.length - line.trimStart().length <= indent) break;
    const text = line.trim();
    if (text !== "" && !text.startsWith("#")) body.push(text);
  }
  const quote = /^[rbu]?("""|''')/i.exec(body[0] ?? "")?.[1];
  if (quote === undefined) return body;
  const oneLine = (body[0] ?? "").lastIndexOf(quote) > (body[0] ?? "").indexOf(quote);
  const end = oneLine ? 0 : body.findIndex((line, index) => index > 0 && line.endsWith(quote));
  return end < 0 ? [] : body.slice(end + 1);
}

/** Fails unless the prepare script of a benchmark exists and defines `prepare`. The script is not run. */
export function checkPrepareScript(given: string, roots: readonly string[]): void {
  const file = candidatePaths(given, roots)
    .map((candidate) => existingScript(candidate))
    .find((candidate) => candidate !== undefined);
  if (file === undefined)
    throw new WorkloadError(`The prepare script ${given} does not exist under ${roots.join(", ")}.`);
  if (file.endsWith(".yaml")) {
    // Reports a mistake with its line and column.
    readPrepareSpec(file);
    return;
  }
  if (!definesFunction(readFileSync(file, "utf8"), "prepare", file.endsWith(".py")))
    throw new WorkloadError(`The prepare script ${file} defines no function 'prepare'.`);
}

/** Fails unless `package.module:function` names an existing function. */
export function checkRolloutDriver(reference: string, roots: readonly string[]): void {
  const { file, name } = locateRolloutDriver(reference, roots);
  if (file === undefined) {
    const stem = reference.replace(/:.*/, "").replaceAll(".", "/");
    throw new WorkloadError(
      `The module of the rollout driver '${reference}' was not found: ${stem}.ts or .py.`,
    );
  }
  if (!definesFunction(readFileSync(file, "utf8"), name, file.endsWith(".py")))
    throw new WorkloadError(`The rollout driver '${reference}' is not defined in ${file}.`);
}

function definesFunction(source: string, name: string, python: boolean): boolean {
  if (python) return new RegExp(`^(?:async +)?def +${name} *\\(`, "m").test(source);
  return (
    new RegExp(`^export\\s+(?:async\\s+)?(?:function\\*?|const|let)\\s+${name}\\b`, "m").test(source) ||
    new RegExp(`^export\\s*\\{[^}]*\\b${name}\\b[^}]*\\}`, "m").test(source)
  );
}
