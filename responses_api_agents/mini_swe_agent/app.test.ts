import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, modelResponse, skipWithoutBubblewrap } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import grader from "../../resources_servers/mini_swe_agent/app.ts";
import definition from "./app.ts";

const data = fileURLToPath(new URL("../../resources_servers/mini_swe_agent/data/", import.meta.url));
const rows = readFileSync(`${data}example.jsonl`, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const rootfs_template = `${data}rootfs/{repo}`;
const block = (command: string) => `Next:\n\n\`\`\`bash\n${command}\n\`\`\``;
const SUBMIT = block("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached");
const FIX = block("sed -i 's/{cents % 100}/{cents % 100:02}/' shop/prices.py");

const usageOf = (ng_cost: number) => ({
  ...{ input_tokens: 1, input_tokens_details: { cached_tokens: 0 }, output_tokens: 1 },
  ...{ output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 2, ng_cost },
});

/** Runs the first example with a model that follows the script and then returns nothing. */
async function run(
  script: readonly string[],
  options: { config?: object; row?: object; withGrader?: boolean; cost?: number } = {},
) {
  const asked: { role: string; content: unknown }[][] = [];
  const gradingServer = options.withGrader
    ? await createTestServer(grader, { name: "grader", config: { rootfs_template } })
    : undefined;
  const server = await createTestServer(definition, {
    config: {
      model_server: { type: "responses_api_models", name: "model" },
      rootfs_template,
      ...(gradingServer && { resources_server: { type: "resources_servers", name: "grader" } }),
      ...options.config,
    },
    servers: {
      model: (_path, body) => {
        asked.push((body as { input: (typeof asked)[number] }).input);
        const text = script[asked.length - 1] ?? "";
        return {
          ...modelResponse(messageItem(text)),
          ...(options.cost !== undefined && { usage: usageOf(options.cost) }),
        };
      },
      ...(gradingServer && { grader: gradingServer.app }),
    },
  });
  try {
    const reply = await server.post("/run", { ...rows[0], ...options.row });
    return { ...reply, asked, lastAsked: JSON.stringify(asked.at(-1)?.at(-1)) };
  } finally {
    await server.close();
    await gradingServer?.close();
  }
}

describe.skipIf(skipWithoutBubblewrap)("mini_swe_agent", () => {
  it("solves an instance, requests its grade and keeps the conversation", async () => {
    const { status, body, asked } = await run([block("cat shop/prices.py"), FIX, SUBMIT], {
      withGrader: true,
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      reward: 1,
      resolved: true,
      instance_id: "tiny__shop-1",
      response: { metadata: { exit_status: "Submitted", steps: "3" }, status: "completed" },
    });
    expect(body.metadata.model_patch).toMatch(/^diff --git a\/shop\/prices.py/);
    expect(body.metadata.eval_report["tiny__shop-1"].tests_status.PASS_TO_PASS.failure).toEqual([]);
    expect(body.responses_create_params.input.map(({ role }: { role: string }) => role)).toEqual([
      "system",
      "user",
    ]);
    expect(body.response.output.map(({ role }: { role: string }) => role)).toEqual([
      ...["assistant", "user", "assistant", "user", "assistant"],
    ]);
    expect(JSON.stringify(asked[1]?.at(-1))).toContain("<returncode>0</returncode>");
  });

  it("grades the patch itself without a resources server, and gives 0 to a patch without an effect", async () => {
    const solved = await run([FIX, SUBMIT]);
    expect(solved.body).toMatchObject({ reward: 1, instance_id: "tiny__shop-1" });
    const wrong = await run([block("echo '# done' >> shop/prices.py"), SUBMIT]);
    expect(wrong.body).toMatchObject({
      reward: 0,
      metadata: { eval_report: { "tiny__shop-1": { patch_successfully_applied: true, resolved: false } } },
    });
    const nothing = await run([SUBMIT]);
    expect(nothing.body).toMatchObject({
      reward: 0,
      metadata: { eval_report: { "tiny__shop-1": { patch_exists: false } } },
    });
  });

  it("does not let a patch change the tests that grade it", async () => {
    const cheat = block("sed -i 's/def test_/def skip_/' tests/test_shop.py");
    expect((await run([cheat, SUBMIT])).body.reward).toBe(0);
  });

  it("reports mistakes to the model: no command, several commands, time-outs, long output, repeated commands", async () => {
    const two = `${block("ls")}\n${block("pwd")}`;
    const { body, asked } = await run(
      [
        "I will think.",
        two,
        block("sleep 30"),
        block("seq 1 9000"),
        block("exit 3"),
        block("exit 3"),
        SUBMIT,
      ],
      { config: { step_timeout: 1, collapse_limit: 2, max_output_chars: 100 } },
    );
    const told = asked.slice(1).map((input) => JSON.stringify(input.at(-1)?.content));
    expect(told[0]).toContain("Your answer has 0.");
    expect(told[1]).toContain("Your answer has 2.");
    expect(told[2]).toContain("took longer than 1 seconds");
    expect(told[3]).toMatch(/too long.*characters left out/);
    expect(told[4]).toContain("<returncode>3</returncode>");
    expect(told[4]).not.toContain("in a row");
    expect(told[5]).toContain("2 times in a row");
    expect(body.response.metadata.exit_status).toBe("Submitted");
  });

  it("ends without a patch at the limits of steps, cost and time, and if the model returns nothing", async () => {
    const endless = Array.from({ length: 20 }, (_, index) => block(`echo ${index}`));
    const steps = await run(endless, { config: { step_limit: 3 } });
    expect(steps.asked).toHaveLength(3);
    expect(steps.body).toMatchObject({
      reward: 0,
      response: { status: "incomplete", metadata: { exit_status: "LimitsExceeded" } },
    });
    const cost = await run(endless, { config: { cost_limit: 3 }, cost: 2 });
    expect(cost.asked).toHaveLength(2);
    const time = await run([block("sleep 30"), ...endless], { config: { run_timeout: 1 } });
    expect(time.asked).toHaveLength(1);
    const silent = await run([]);
    expect(silent.asked).toHaveLength(3);
    expect(silent.body.response.metadata.exit_status).toBe("NoAnswer");
  });

  it("runs commands of any length, and reports those that cannot run to the model", async () => {
    const long = `cat > big.py <<'EOF'\n${"# it's long\n".repeat(40_000)}EOF\nwc -l < big.py; rm big.py; cat; exit 7`;
    const { status, body, asked } = await run([block("echo a\0b"), block(long), FIX, SUBMIT]);
    const told = asked.slice(1).map((input) => JSON.stringify(input.at(-1)?.content));
    expect(told[0]).toMatch(/<returncode>126<\/returncode>.*zero byte/);
    expect(told[1]).toMatch(/<returncode>7<\/returncode>.*40000/);
    expect([status, body.reward]).toEqual([200, 1]);
  });

  it.each(["cd / && rm -rf /testbed", "chmod 000 /testbed", "chmod 000 /"])(
    "ends without a score above 0 when the model makes its workspace unusable: %s",
    async (command) => {
      const { status, body, asked } = await run([block(command), ...Array(20).fill(block("ls"))]);
      expect([status, body.reward]).toEqual([200, 0]);
      expect(body.response.metadata.exit_status).toBe("WorkspaceLost");
      expect(asked.length).toBeLessThan(5);
    },
  );

  it("goes on after commands that fail in the same way", async () => {
    const { body } = await run([block("false"), block("false"), block("false"), FIX, SUBMIT]);
    expect(body.reward).toBe(1);
  });

  it("checks instances with their reference solution, and keeps the results of finished instances", async () => {
    const results_dir = mkdtempSync(path.join(tmpdir(), "gym-mini-swe-"));
    const config = { run_golden: true, skip_if_exists: true, results_dir };
    expect((await run([], { config })).body.reward).toBe(1);
    expect(existsSync(path.join(results_dir, "local", "model", "tiny__shop-1", "tiny__shop-1.json"))).toBe(
      true,
    );
    const again = await run([], { config: { ...config, run_golden: false } });
    expect(again.asked).toHaveLength(0);
    expect(again.body.reward).toBe(1);
    rmSync(results_dir, { recursive: true });
  });

  it("fails without a sandbox, and refuses rows that are not instances", async () => {
    expect(await run([FIX], { config: { env: "enroot" }, row: { subset: "gym" } })).toMatchObject({
      status: 503,
      body: { error: { class: "sandbox_unavailable", retryable: false } },
    });
    expect((await run([], { row: { repo: "../../etc" } })).status).toBe(422);
    expect((await run([], { row: { repo: "tiny/other" } })).status).toBe(422);
    expect((await run([], { row: { FAIL_TO_PASS: "not json" } })).body.detail).toMatch(/FAIL_TO_PASS/);
  });
});
