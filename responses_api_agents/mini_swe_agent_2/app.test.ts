import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import {
  createTestServer,
  functionCallItem,
  messageItem,
  modelResponse,
  skipWithoutBubblewrap,
} from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import grader from "../../resources_servers/mini_swe_agent_2/app.ts";
import definition from "./app.ts";

const data = fileURLToPath(new URL("../../resources_servers/mini_swe_agent/data/", import.meta.url));
const [row] = readFileSync(`${data}example.jsonl`, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const rootfs_template = `${data}rootfs/{repo}`;
const SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached";
const FIX = "sed -i 's/{cents % 100}/{cents % 100:02}/' shop/prices.py";
let calls = 0;
const bash = (command: string) => functionCallItem("bash", { command }, `call_${++calls}`);

type Items = Record<string, unknown>[];

/** Runs the first example with a model that returns these items and then nothing. */
async function run(script: readonly Items[], config: object = {}) {
  const asked: { input: Items; tools: { name: string }[] }[] = [];
  const gradingServer = await createTestServer(grader, { name: "grader", config: { rootfs_template } });
  const server = await createTestServer(definition, {
    config: {
      model_server: { type: "responses_api_models", name: "model" },
      resources_server: { type: "resources_servers", name: "grader" },
      rootfs_template,
      ...config,
    },
    servers: {
      model: (_path, body) => {
        asked.push(body as (typeof asked)[number]);
        return modelResponse(...(script[asked.length - 1] ?? []));
      },
      grader: gradingServer.app,
    },
  });
  try {
    return { ...(await server.post("/run", row)), asked };
  } finally {
    await server.close();
    await gradingServer.close();
  }
}

describe.skipIf(skipWithoutBubblewrap)("mini_swe_agent_2", () => {
  it("offers a bash tool, runs all calls of an answer and requests a grade for the patch", async () => {
    const { status, body, asked } = await run([
      [messageItem("I look around."), bash("ls"), bash("exit 3")],
      [bash(FIX)],
      [messageItem("Done."), bash(SUBMIT), bash("touch /after")],
    ]);
    expect([status, body.reward, body.instance_id]).toEqual([200, 1, "tiny__shop-1"]);
    expect(asked[0]?.tools.map(({ name }) => name)).toEqual(["bash"]);
    expect(body.responses_create_params.tools.map(({ name }: { name: string }) => name)).toEqual(["bash"]);
    // The call that submits ends the run, so it gets no output.
    expect(body.response.output.map(({ type }: { type: string }) => type)).toEqual([
      ...["message", "function_call", "function_call", "function_call_output", "function_call_output"],
      ...["function_call", "function_call_output", "message", "function_call", "function_call"],
    ]);
    const outputs = asked[1]?.input.filter(({ type }) => type === "function_call_output") ?? [];
    expect(outputs.map(({ output }) => String(output).split("\n")[0])).toEqual([
      "<returncode>0</returncode>",
      "<returncode>3</returncode>",
    ]);
    expect(body.metadata.eval_report["tiny__shop-1"].tests_status).toMatchObject({
      FAIL_TO_FAIL: { success: [], failure: [] },
      PASS_TO_FAIL: { success: [], failure: [] },
    });
  });

  it("reports mistakes to the model as outputs of its calls", async () => {
    const { body, asked } = await run([
      [messageItem("I will think.")],
      [bash("touch ran"), functionCallItem("python", { code: "1" }, "call_python")],
      [functionCallItem("bash", { cmd: "ls" }, "call_cmd")],
      [bash("ls ran"), bash(`${SUBMIT} && false`)],
      [bash(SUBMIT)],
    ]);
    const last = asked.slice(1).map(({ input }) => input.at(-1) ?? {});
    expect(last[0]).toMatchObject({ role: "user", content: expect.stringContaining("has no tool call") });
    expect(last[1]).toMatchObject({
      call_id: "call_python",
      output: expect.stringContaining("no tool 'python'"),
    });
    expect(asked[2]?.input.filter(({ type }) => type === "function_call_output")).toHaveLength(2);
    expect(last[2]).toMatchObject({
      call_id: "call_cmd",
      output: expect.stringContaining('{"command": "..."}'),
    });
    // No call of a response runs if one of them is invalid, and a failed command does not submit.
    const [ran, submitted] = asked[4]?.input.slice(-2) ?? [];
    expect([ran?.["output"], submitted?.["output"]]).toEqual([
      expect.stringContaining("<returncode>2</returncode>"),
      expect.stringContaining("<returncode>1</returncode>"),
    ]);
    expect(body.response.metadata).toMatchObject({ exit_status: "Submitted", steps: "5" });
    expect(body.reward).toBe(0);
  });

  it("ends at its limits", async () => {
    const { asked, body } = await run([[bash("true")], [bash("true")]], { step_limit: 2 });
    expect([asked.length, body.reward]).toEqual([2, 0]);
    expect(body.response.metadata.exit_status).toBe("LimitsExceeded");
    const silent = await run([]);
    expect(silent.body.response.metadata.exit_status).toBe("NoAnswer");
  });
});
