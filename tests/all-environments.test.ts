import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { MockModelEndpoint } from "../src/testing/mock-model-endpoint.ts";
import { project, repository, runGym } from "./gym-process.ts";

/** Environments that need a service, a container, a program that is not part of the repository, an engine with log probabilities, or a model that can play a role. */
const OUTSIDE = new Set([
  "bigcodebench",
  "browsecomp_advanced_harness",
  "conversational_tool_use_simulation",
  "critpt",
  "cvdp",
  "deepswe",
  "finance_sec_search",
  "google_search",
  "harbor",
  "image_tools",
  "job_bench",
  "litmus_agent",
  "loglikelihood",
  "longmt_eval",
  "math_formal_lean",
  "mini_swe_agent",
  "mini_swe_agent_2",
  "openenv",
  "scicode",
  "swebench",
  "swerl_gen",
  "tales",
  "tavily_search",
]);
/** Compares the rollouts of a prompt with each other. */
const GROUPED = "genrm_compare";
const GROUP_SIZE = 4;

const folder = path.join(repository, "resources_servers");
const names = readdirSync(folder).filter(
  (name) => existsSync(path.join(folder, name, "data/example.jsonl")) && !OUTSIDE.has(name),
);

interface Block {
  resources_servers?: Record<string, Record<string, unknown>>;
  responses_api_agents?: object;
}
type Verdict = string | Record<string, string>;

function configFile(name: string): string {
  const directory = path.join(folder, name, "configs");
  const own = path.join(directory, `${name}.yaml`);
  return existsSync(own) ? own : path.join(directory, readdirSync(directory)[0] ?? "");
}

/** What the judge of an environment says if it accepts, from the settings of the audit. */
function acceptance(name: string, request: string): string {
  const file = path.join(folder, name, "audit.yaml");
  const settings = existsSync(file) ? parse(readFileSync(file, "utf8")) : {};
  const accept: Verdict = settings.judge?.accept ?? "yes";
  if (typeof accept === "string") return accept;
  return Object.entries(accept).find(([part]) => request.includes(part))?.[1] ?? "";
}

it("runs all environments at once, without a failure and with metrics of each", async () => {
  const judge = await new MockModelEndpoint({
    answer: ({ path: url, body }) => ({ text: acceptance(url.split("/")[1] ?? "", JSON.stringify(body)) }),
  }).start();
  const servers: Record<string, object> = {};
  const overrides: string[] = [];
  const agents: string[] = [];
  for (const name of names) {
    const blocks = parse(readFileSync(configFile(name), "utf8")) as Record<string, Block>;
    for (const [server, { resources_servers = {}, responses_api_agents }] of Object.entries(blocks)) {
      if (responses_api_agents) agents.push(server);
      for (const [type, config] of Object.entries(resources_servers))
        for (const key of ["judge_model_server", "genrm_model_server"]) {
          if (config[key] === undefined) continue;
          const endpoint = { openai_base_url: `${judge.origin}/${name}/v1`, openai_api_key: "unused" };
          servers[`judge_of_${name}`] = {
            responses_api_models: {
              openai_model: { entrypoint: "app.ts", openai_model: "scripted", ...endpoint },
            },
          };
          overrides.push(`++${server}.resources_servers.${type}.${key}.name=judge_of_${name}`);
        }
    }
  }
  const cwd = await project({ "judges.yaml": JSON.stringify(servers) });
  try {
    const { exitCode, stderr } = await runGym(
      [
        ...["eval", "run", "--env-yaml", "none", "--model-type", "random_model", "--no-health-check"],
        ...names.flatMap((name) => ["--config", configFile(name)]),
        ...["--config", "judges.yaml", "-o", "rollouts.jsonl"],
        ...["--num-repeats", `{_default: 1, ${GROUPED}_simple_agent: ${GROUP_SIZE}}`],
        ...overrides,
      ],
      { cwd },
    );
    expect(exitCode, stderr.slice(-4000)).toBe(0);
    const failures = path.join(cwd, "rollouts_failures.jsonl");
    expect(existsSync(failures) ? readFileSync(failures, "utf8").slice(0, 2000) : "").toBe("");
    const rows = readFileSync(path.join(cwd, "rollouts.jsonl"), "utf8").trimEnd().split("\n");
    const withoutBase = rows
      .map((line) => JSON.parse(line) as { agent_ref: { name: string } } & Record<string, unknown>)
      // The gymnasium protocol has no verdict: the environment scores each step.
      .filter(({ agent_ref }) => !agent_ref.name.endsWith("gymnasium_agent"))
      .filter(
        (row) => row["mask_sample"] !== false || !("failure_kind" in row) || !("failure_reason" in row),
      );
    expect(withoutBase.map(({ agent_ref }) => agent_ref)).toEqual([]);
    const metrics = JSON.parse(readFileSync(path.join(cwd, "rollouts_aggregate_metrics.json"), "utf8"));
    const scored = (metrics as { agent_ref: { name: string }; agent_metrics: object }[])
      .filter(({ agent_metrics }) => "mean/reward" in agent_metrics)
      .map(({ agent_ref }) => agent_ref.name);
    expect(scored.sort()).toEqual(agents.sort());
    expect(agents.length).toBeGreaterThanOrEqual(names.length);
  } finally {
    await judge.close();
  }
});
