import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import definition, { nsTools } from "./app.ts";

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function serverWith(reply: unknown, overrides = {}) {
  const calls: unknown[] = [];
  const server = await createTestServer(definition, {
    directory: import.meta.dirname,
    config: {
      verifiers: { math_with_judge: { type: "resources_servers", name: "math" } },
      nemo_skills_tools: ["nemo_skills.mcp.servers.python_tool.PythonTool"],
      ...overrides,
    },
    servers: {
      math: (_path: string, body: unknown) => {
        calls.push(body);
        return { status: 200, body: reply };
      },
    },
  });
  closing.push(() => server.close());
  return { server, calls };
}

const answer = messageItem("\\boxed{4}");

describe("ns_tools", () => {
  it("passes the row on and returns the reply", async () => {
    const { server, calls } = await serverWith({ reward: 0.5, extra: 1 });
    const { body } = await server.verify(verifyBody({ expected_answer: "4" }, answer));
    expect(body).toMatchObject({
      ...{ reward: 0.5, delegated_response: { reward: 0.5, extra: 1 }, num_tool_calls: 0 },
      ...{ verifier_type: null, expected_answer: "4" },
    });
    expect(calls).toMatchObject([{ expected_answer: "4", response: { output: [answer] } }]);
  });

  it("makes no score of a rollout without a verdict", async () => {
    const { server } = await serverWith({ reward: 0, _ng_failure_class: "judge_failed", mask_sample: true });
    const { body } = await server.verify(verifyBody({}, answer));
    expect(body).toMatchObject({ _ng_failure_class: "judge_failed", mask_sample: true });
  });

  it.each([{ score: 1 }, { reward: null }, { reward: "1" }])("refuses the reply %j", async (reply) => {
    const { server } = await serverWith(reply);
    expect((await server.verify(verifyBody({}, answer))).status).toBe(502);
  });

  it("refuses a verifier or a tool that the config does not have", async () => {
    const { server } = await serverWith({ reward: 1 });
    expect((await server.verify(verifyBody({ verifier_type: "other" }, answer))).status).toBe(422);
    expect((await server.post("/search", {})).text).toBe('{"error": "Unknown tool: search"}');
    await expect(serverWith({}, { nemo_skills_tools: ["a.b.ArxivTool"] })).rejects.toThrow("only PythonTool");
  });

  it.skipIf(skipWithoutBubblewrap)("runs Python and counts the calls", async () => {
    const overrides = { nemo_skills_tool_overrides: { PythonTool: { exec_timeout_s: 1 } } };
    const { server } = await serverWith({ reward: 1 }, overrides);
    const jar = server.newJar();
    const run = async (code: unknown) =>
      (await server.post("/stateful_python_code_exec", { code }, jar)).text;
    expect(await run("x = 20\nprint('set')\nx + 1")).toBe("set\n21");
    expect(await run("x * 2")).toBe("40");
    expect(await run("1 / 0")).toContain("ZeroDivisionError");
    expect(JSON.parse(await run("while True: pass"))).toMatchObject({ process_status: "timeout" });
    expect(JSON.parse(await run(5))).toMatchObject({ error: expect.stringContaining("code") });
    const { body } = await server.verify(verifyBody({}, answer), jar);
    expect(body).toMatchObject({ num_tool_calls: 5, tool_timeout_count: 1, tool_request_timeout_count: 0 });
    expect((await server.verify(verifyBody({}, answer), jar)).body.num_tool_calls).toBe(0);
  });

  it("frees the tools of a session that is never verified", async () => {
    const open = new Set<string>();
    const tools = {
      has: () => true,
      call: async (_name: string, _input: object, sessionId: string) => open.add(sessionId).size,
      end: async (sessionId: string) => void open.delete(sessionId),
      close: async () => {},
    };
    const server = await createTestServer(
      nsTools(() => tools),
      { directory: import.meta.dirname },
    );
    await server.post("/anything", {}, server.newJar());
    expect(open.size).toBe(1);
    await server.close();
    expect(open.size).toBe(0);
  });
});
