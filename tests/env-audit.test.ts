import { describe, expect, it } from "vitest";
import { project, runGym } from "./gym-process.ts";

const CONFIG = `quiz:
  resources_servers:
    quiz: {entrypoint: app.ts, domain: other}
quiz_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: quiz}
      model_server: {type: responses_api_models, name: policy_model}
      datasets:
      - {name: example, type: example, jsonl_fpath: resources_servers/quiz/data/example.jsonl}
`;

const app = (verify: string) => `import { defineResourcesServer } from "nemo-gym";
export default defineResourcesServer({ verify: ${verify} });
`;

const quiz = (verify: string, files: Record<string, string> = {}) =>
  project({
    "resources_servers/quiz/app.ts": app(verify),
    "resources_servers/quiz/configs/quiz.yaml": CONFIG,
    "resources_servers/quiz/data/example.jsonl": '{"responses_create_params": {"input": "Hello?"}}\n'.repeat(
      5,
    ),
    ...files,
  });

interface AuditReport {
  environments: { name: string; reports: { checks: { check: string; status: string }[] }[] }[];
}

const NONSENSE = ["--check", "nonsense-earns-minimum"];
/** It takes seconds per answer. */
const COMPILES = "competitive_coding_challenges";

/** Without the check whose result depends on the load of the machine. */
function failedChecks(json: string): string[] {
  const { environments } = JSON.parse(json) as AuditReport;
  return environments.flatMap(({ name, reports }) =>
    reports.flatMap(({ checks }) =>
      checks
        .filter(({ check, status }) => status === "failed" && check !== "verification-fast")
        .map(({ check }) => `${name}: ${check}`),
    ),
  );
}

describe("included environments", () => {
  it("pass the audit, or have a waiver with a reason", { timeout: 1_500_000 }, async () => {
    // Two rows of each: all rows of all environments would take several minutes.
    const words = ["env", "audit", "--limit", "2", "--exclude", COMPILES, "--json"];
    const { stdout } = await runGym(words, { cwd: await project({}) });
    expect(failedChecks(stdout)).toEqual([]);
    expect((JSON.parse(stdout) as AuditReport).environments.length).toBeGreaterThan(80);
  });

  it("pass the most important checks where answers are compiled", { timeout: 600_000 }, async () => {
    const checks = ["gold-earns-maximum", "nonsense-earns-minimum", "malformed-output-is-no-failure"];
    const words = [
      "env",
      "audit",
      COMPILES,
      "--limit",
      "1",
      ...checks.flatMap((check) => ["--check", check]),
    ];
    const { stdout } = await runGym([...words, "--json"], { cwd: await project({}) });
    expect(failedChecks(stdout)).toEqual([]);
  });

  it("are left out by --exclude", async () => {
    const cwd = await quiz("() => ({ reward: 0 })");
    const { exitCode, stderr } = await runGym(["env", "audit", "--exclude", "quizz"], { cwd });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("no such environment. Did you mean quiz?");
  });
});

describe("gym env audit", () => {
  it("fails with evidence, and with a JSON report", async () => {
    const cwd = await quiz("() => ({ reward: 1 })");
    const shown = await runGym(["env", "audit", "quiz", ...NONSENSE, "--evidence"], { cwd });
    expect(shown.exitCode).toBe(1);
    expect(shown.stdout).toContain("✗ nonsense-earns-minimum");
    expect(shown.stdout).toContain("row 1, empty answer: It earns 1.");
    expect(shown.stdout).toContain('"reward": 1');
    const { stdout, exitCode } = await runGym(["env", "audit", "quiz", ...NONSENSE, "--json"], { cwd });
    expect(exitCode).toBe(1);
    const report = JSON.parse(stdout);
    expect(report.passed).toBe(false);
    expect(report.environments[0]).toMatchObject({
      name: "quiz",
      reports: [{ server: "quiz", rows: 5, checks: [{ check: "nonsense-earns-minimum", status: "failed" }] }],
    });
  });

  it("passes if a waiver explains the finding", async () => {
    const reason = "Every answer is welcome in this environment.";
    const cwd = await quiz("() => ({ reward: 1 })", {
      "resources_servers/quiz/audit.yaml": `waivers: [{check: nonsense-earns-minimum, reason: ${reason}}]\n`,
    });
    const { exitCode, stdout } = await runGym(["env", "audit", "quiz", ...NONSENSE], { cwd });
    expect(stdout).toContain(`~ nonsense-earns-minimum: ${reason}`);
    expect(exitCode).toBe(0);
  });

  it("names the rollout in which a verifier hangs", async () => {
    const cwd = await quiz(
      "({ response }) => { while (response.output.length === 0); return { reward: 0 }; }",
    );
    const words = ["env", "audit", "quiz", ...NONSENSE, "+rollout_timeout_seconds=4"];
    const { exitCode, stdout } = await runGym(words, { cwd });
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      "not audited: It hung for 4 s at: quiz, nonsense-earns-minimum: row 1, no output.",
    );
  });

  it("reports a verifier that ends the process", async () => {
    const cwd = await quiz("() => process.exit(3)");
    const { exitCode, stdout } = await runGym(["env", "audit", "quiz", ...NONSENSE], { cwd });
    expect(exitCode).toBe(1);
    expect(stdout).toContain("The process ended with code 3 at: quiz, nonsense-earns-minimum: row 1");
  });

  it("rejects unknown names and checks", async () => {
    const cwd = await quiz("() => ({ reward: 0 })");
    const unknown = await runGym(["env", "audit", "quizz"], { cwd });
    expect(unknown.exitCode).toBe(2);
    expect(unknown.stderr).toContain("Did you mean `quiz`?");
    const check = await runGym(["env", "audit", "quiz", "--check", "gold"], { cwd });
    expect(check.exitCode).toBe(1);
    expect(check.stdout).toContain("Unknown check: gold.");
  });
});
