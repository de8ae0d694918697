import { createTestServer, EndpointServer, messageItem, verifyBody } from "nemo-gym/testing";
import { afterEach, describe, expect, it } from "vitest";
import definition, { mathFormalLean } from "./app.ts";

const row = {
  header: "import Mathlib\n\n",
  formal_statement: "theorem t (a b : Nat) : a + b = b + a := by\n",
};
const block = (code: string, language = "lean4") => `\`\`\`${language}\n${code}\n\`\`\``;
const output = (process_status: string, stderr = "", stdout = "") => ({ process_status, stdout, stderr });

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function verify(answer: string, reply: unknown = output("completed"), config = {}) {
  const sent: string[] = [];
  const scripted = mathFormalLean(() => async (code) => {
    sent.push(code);
    return reply;
  });
  const server = await createTestServer(scripted, { config });
  closing.push(() => server.close());
  const result = await server.verify(verifyBody(row, messageItem(answer)));
  return { ...result, sent };
}

describe("the program", () => {
  it.each([
    ["a tactic", block("omega"), "omega"],
    ["a whole theorem", block("theorem u : 1 = 1 := by\n  omega"), "  omega"],
    ["a theorem in one line", block("theorem u : 1 = 1 := by omega"), "omega"],
    ["the last block", `${block("simp")} or ${block("omega")}`, "omega"],
    ["a lean4 block before a later lean block", `${block("omega")} ${block("simp", "lean")}`, "omega"],
    ["text without a block", "omega", "omega"],
  ])("restates the theorem of the row for %s", async (_, answer, proof) => {
    expect((await verify(answer)).sent).toEqual([row.header + row.formal_statement + proof]);
  });

  it("takes the first block if the config says so", async () => {
    const { sent } = await verify(`${block("simp")} ${block("omega")}`, undefined, {
      extract_code_mode: "first",
    });
    expect(sent[0]).toMatch(/simp$/);
  });
});

describe("the verdict", () => {
  it("is that of the compiler", async () => {
    expect((await verify(block("omega"))).body).toMatchObject({ reward: 1, needs_correction: false });
    const { body } = await verify(
      block("simp"),
      output("error", "/lean4/my_project/x.lean:4:1: error: no progress"),
    );
    expect(body).toMatchObject({ reward: 0, proof_status: "error" });
    expect(body.error_feedback).toContain("s<error>imp</error>");
    expect(body.correction_prompt).toContain("no progress");
  });

  it.each([
    ["has_sorry", output("completed", "", "declaration uses 'sorry'")],
    ["timeout", output("timeout")],
    ["error", output("error")],
  ])("is 0 with the status %s", async (proof_status, reply) => {
    expect((await verify(block("omega"), reply)).body).toMatchObject({ reward: 0, proof_status });
  });

  it("asks nobody about an empty answer", async () => {
    const { body, sent } = await verify(" \n");
    expect(body).toMatchObject({ reward: 0, proof_status: "empty_generation" });
    expect(sent).toEqual([]);
  });

  it("is none if the service answers in another form", async () => {
    expect((await verify(block("omega"), { stdout: "ok" })).status).toBe(500);
  });
});

describe("the service", () => {
  const withService = async (status: number, body: unknown) => {
    const service = await new EndpointServer({ handler: () => ({ status, body }) }).start();
    closing.push(() => service.close());
    const { hostname, port } = new URL(service.origin);
    const server = await createTestServer(definition, {
      config: { sandbox_host: hostname, sandbox_port: port },
    });
    closing.push(() => server.close());
    return {
      ...(await server.verify(verifyBody(row, messageItem(block("omega"))))),
      requests: service.requests.map((request) => request.body),
    };
  };

  it("gets the program and the limits", async () => {
    const { body, requests } = await withService(200, output("completed"));
    expect(body.reward).toBe(1);
    expect(requests).toMatchObject([{ language: "lean4", timeout: 30, max_output_characters: 1000 }]);
  });

  it("fails the rollout if it fails", async () => {
    expect((await withService(502, "")).status).toBe(500);
    const server = await createTestServer(definition, { config: { sandbox_port: 9 } });
    closing.push(() => server.close());
    expect((await server.verify(verifyBody(row, messageItem("omega")))).status).toBe(500);
  });
});
