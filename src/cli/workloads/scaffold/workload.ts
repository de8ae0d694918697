import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { suggest } from "../../../base/suggest.ts";
import { readConfigFile, serverBlocks } from "../../../config/door.ts";
import { textOfNode } from "../../../config/light-door.ts";
import { candidatePaths, findExistingPath } from "../../../config/paths.ts";
import { datasetsOf } from "../catalog/config-files.ts";
import type { IntegrationProfile } from "../catalog/manifest.ts";
import { ScaffoldError } from "../errors.ts";
import type { ScaffoldFiles } from "./files.ts";
import { episodeAgentFiles, readTemplate, serverFiles } from "./templates.ts";

export interface WorkloadScaffold {
  readonly kind: "environment" | "benchmark";
  readonly name: string;
  readonly profile: IntegrationProfile;
  readonly verifier: Verifier;
  /** The verifier already exists. Otherwise it is created too. */
  readonly reused: boolean;
  readonly reward: { readonly range: readonly [number, number]; readonly higherIsBetter: boolean };
}

/** The files of a new environment or benchmark, and of its verifier and agent if they do not exist yet. */
export function workloadFiles(scaffold: WorkloadScaffold): ScaffoldFiles {
  const { kind, name, verifier, profile, reused } = scaffold;
  const folder = `${kind}s/${name}`;
  return {
    ...(!reused && serverFiles("resources-server", verifier.name)),
    ...(profile === "custom-gym-agent-loop" && serverFiles("agent", `${name}_agent`)),
    ...(profile === "external-agent-loop" && episodeAgentFiles(`${name}_agent`)),
    ...(profile === "external-rollout-driver" && {
      [`${folder}/rollout_driver.ts`]: readTemplate("workload/rollout_driver.ts"),
    }),
    [`${folder}/manifest.yaml`]: manifest(scaffold),
    [`${folder}/config.yaml`]: config(scaffold),
    [`${folder}/data/example.jsonl`]: verifier.exampleRows,
    [`${folder}/README.md`]: readme(scaffold),
    ...(kind === "benchmark" && {
      [`${folder}/prepare.ts`]: readTemplate("workload/prepare.ts"),
      [`${folder}/prompt.yaml`]: reused ? BARE_PROMPT : readTemplate("workload/prompt.yaml"),
      [`${folder}/data/source.jsonl`]: reused
        ? withoutInput(verifier.exampleRows)
        : readTemplate("workload/data/source.jsonl"),
      [`${folder}/data/.gitignore`]: `${name}_benchmark.jsonl\n*_prepare.jsonl\n*_metrics_conflict.json\n`,
    }),
  };
}

function hasOwnAgent({ profile }: WorkloadScaffold): boolean {
  return profile === "custom-gym-agent-loop" || profile === "external-agent-loop";
}

function driverOf({ kind, name, profile }: WorkloadScaffold): string | undefined {
  return profile === "external-rollout-driver" ? `${kind}s.${name}.rollout_driver:runRollouts` : undefined;
}

/** The prompt of rows whose whole input is in one field. */
const BARE_PROMPT = "user: '{task_prompt}'\n";

interface ExampleRow {
  responses_create_params?: { input?: string | { content?: unknown }[] };
}

/** Moves the input of each row into the field `task_prompt`, from which the prompt config builds it again. */
function withoutInput(rows: string): string {
  return rows.replace(/^.+$/gm, (line) => {
    const row = JSON.parse(line) as ExampleRow;
    const { input = [], ...params } = row.responses_create_params ?? {};
    const texts = typeof input === "string" ? [input] : input.map(({ content }) => textOfContent(content));
    return JSON.stringify({ ...row, responses_create_params: params, task_prompt: texts.join("\n\n") });
  });
}

function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: { text?: string }) => part.text ?? "").join("");
}

function agentOf(scaffold: WorkloadScaffold) {
  const { name, verifier } = scaffold;
  const own = hasOwnAgent(scaffold);
  return { instance: `${name}_agent`, implementation: own ? `${name}_agent` : verifier.agent.implementation };
}

function datasets({ kind, name }: WorkloadScaffold, indent: string): string {
  const example = [
    `- name: example`,
    `  type: example`,
    `  jsonl_fpath: ${kind}s/${name}/data/example.jsonl`,
  ];
  const benchmark = [
    `- name: ${name}`,
    `  type: benchmark`,
    `  jsonl_fpath: benchmarks/${name}/data/${name}_benchmark.jsonl`,
    `  prepare_script: benchmarks/${name}/prepare.ts`,
    `  prompt_config: benchmarks/${name}/prompt.yaml`,
    `  num_repeats: 1`,
  ];
  const lines = kind === "benchmark" ? benchmark : example;
  return lines.map((line) => `${indent}${line}\n`).join("");
}

function config(scaffold: WorkloadScaffold): string {
  const { verifier } = scaffold;
  const agent = agentOf(scaffold);
  const driver = driverOf(scaffold);
  const include = `config_paths:\n- ${verifier.configPath}\n${driver ? `rollout_collection_driver: ${driver}\n` : ""}`;
  if (hasOwnAgent(scaffold)) {
    // The new agent inherits the references of the verifier's agent and replaces it.
    const { instance, implementation } = verifier.agent;
    return `${include}${agent.instance}:
  responses_api_agents:
    ${agent.implementation}:
      _inherit_from: ${instance}.responses_api_agents.${implementation}
      max_steps: 8
      datasets:
${datasets(scaffold, "      ")}`;
  }
  return `${include}${agent.instance}:
  _inherit_from: ${verifier.agent.instance}
  responses_api_agents:
    ${agent.implementation}:
      datasets:
${datasets(scaffold, "      ")}`;
}

function manifest(scaffold: WorkloadScaffold): string {
  const { kind, name, profile, verifier, reward } = scaffold;
  const driver = driverOf(scaffold);
  const benchmark = `canonical_split: benchmark\nstandard_prompt_config: benchmarks/${name}/prompt.yaml\n`;
  return `name: ${name}
version: 0.1.0
kind: ${kind}
integration_profile: ${profile}
domain: ${verifier.domain}
description: "TODO: what ${name} asks of a model, in one sentence."
modality: text
licensing: unknown
authors:
- "TODO: who answers questions about it"
reward:
  range: [${reward.range.join(", ")}]
  higher_is_better: ${reward.higherIsBetter}
determinism: unknown
resources_server: ${verifier.name}
agent_server: ${agentOf(scaffold).implementation}
model_server: policy_model
${driver ? `rollout_driver: ${driver}\n` : ""}${kind === "benchmark" ? benchmark : ""}datasets:
${datasets(scaffold, "")}`;
}

function readme({ kind, name, verifier }: WorkloadScaffold): string {
  const prepare = kind === "benchmark" ? `gym eval prepare --benchmark ${name}\n` : "";
  const split = kind === "benchmark" ? " --split benchmark" : "";
  return `# ${name}

What this ${kind} measures, where its data comes from, and how answers are scored (\`resources_servers/${verifier.name}\`).

\`\`\`bash
gym env validate ${name}
gym env test ${name}
${prepare}gym eval run --${kind} ${name} --model-type random_model${split} --output results/${name}.jsonl
gym env publish ${name}
\`\`\`

\`manifest.yaml\` is the entry of the catalog. \`gym env publish\` lists what is left to write there; after changes of
\`config.yaml\`, \`gym env validate ${name} --sync\` brings it up to date.

## Licensing

Code: Apache 2.0. Data: Apache 2.0.
`;
}

/** The resources server that scores a workload. */
export interface Verifier {
  readonly name: string;
  /** The path of its config, as in `config_paths`. */
  readonly configPath: string;
  /** The agent of that config that runs the server's rows. */
  readonly agent: { readonly instance: string; readonly implementation: string };
  readonly domain: string;
  /** Example rows that it can score, as JSON lines. */
  readonly exampleRows: string;
}

const EXAMPLE_ROWS = 5;

/** The verifier that a new resources server will be. */
export function newVerifier(name: string): Verifier {
  return {
    name,
    configPath: `resources_servers/${name}/configs/${name}.yaml`,
    agent: { instance: `${name}_simple_agent`, implementation: "simple_agent" },
    domain: "other",
    exampleRows: readTemplate("resources-server/data/example.jsonl"),
  };
}

/** An existing resources server, with the agent and the example rows of its config. */
export function existingVerifier(name: string, roots: readonly string[]): Verifier {
  const configPath = `resources_servers/${name}/configs/${name}.yaml`;
  const file = findExistingPath(configPath, roots);
  if (file === undefined) {
    const tried = candidatePaths(configPath, roots).map((place) => `  - ${place}`);
    const nearest = suggest(name, reusable(roots));
    const hint = nearest === undefined ? "" : ` Did you mean \`${nearest}\`?`;
    throw new ScaffoldError(
      `There is no verifier '${name}' to reuse.${hint} Looked at:\n${tried.join("\n")}`,
    );
  }
  const blocks = [...serverBlocks(readConfigFile(file))];
  const server = blocks.find(({ type }) => type === "resources_servers");
  const agent = blocks.find(
    ({ type, block }) => type === "responses_api_agents" && block.entries.has("datasets"),
  );
  if (server === undefined || agent === undefined) {
    throw new ScaffoldError(
      `${configPath} has no resources server with an agent and datasets, so it cannot be reused.`,
    );
  }
  const example = datasetsOf(agent.block).find(
    (entry) => textOfNode(entry.entries.get("type")) === "example",
  );
  const rows = findExistingPath(textOfNode(example?.entries.get("jsonl_fpath")) ?? "", roots);
  if (example === undefined || rows === undefined)
    throw new ScaffoldError(`${configPath} names no example data that exists.`);
  return {
    name,
    configPath,
    agent: { instance: agent.name, implementation: agent.implementation },
    domain: textOfNode(server.block.entries.get("domain")) ?? "other",
    exampleRows: firstLines(readFileSync(rows, "utf8"), EXAMPLE_ROWS),
  };
}

function reusable(roots: readonly string[]): string[] {
  return roots
    .map((root) => path.join(root, "resources_servers"))
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder));
}

function firstLines(text: string, count: number): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return lines
    .slice(0, count)
    .map((line) => `${line}\n`)
    .join("");
}
