import { execFileSync } from "node:child_process";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";

const isMissing = (() => {
  try {
    execFileSync("bwrap", ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return process.env["CI"] === undefined;
  }
})();
if (isMissing) console.warn("bubblewrap is not installed: the example with a sandbox is not tried");

async function verdict(answer: string, config = {}) {
  const server = await createTestServer(definition, { config });
  const { status, body } = await server.verify(verifyBody({ expected_output: "42" }, messageItem(answer)));
  return { status, body };
}
const python = (code: string) => `Here:\n\`\`\`python\n${code}\n\`\`\``;

describe.skipIf(isMissing)("snippets", () => {
  it("runs the code in the answer", async () => {
    expect((await verdict(python("print(6 * 7)"))).body).toMatchObject({ reward: 1, reason: "ran" });
    expect((await verdict(python("print(41)"))).body).toMatchObject({ reward: 0, reason: "ran" });
    expect((await verdict("I would print 42.")).body).toMatchObject({ reward: 0, reason: "no code" });
  });

  it("gives 0 to code that never ends and to code that reads other files", async () => {
    const loop = await verdict(python("while True: pass"), { time_limit_s: 1 });
    expect(loop.body).toMatchObject({ reward: 0, reason: "timeout" });
    const curious = "import os\nprint(42 if os.path.exists('/etc/shadow') else 0)";
    expect((await verdict(python(curious))).body.reward).toBe(0);
  });

  it("uses the provider and the spec of its config", async () => {
    const config = {
      sandbox_provider: { bubblewrap: { limits: { memory_mib: 64 } } },
      sandbox_spec: { env: { X: "42" } },
    };
    expect((await verdict(python("import os; print(os.environ['X'])"), config)).body.reward).toBe(1);
    const greedy = await verdict(python("x = bytearray(200 << 20); print(42)"), config);
    expect(greedy.body).toMatchObject({ reward: 0, return_code: 1 });
    const wrong = await verdict(python("print(42)"), { sandbox_provider: { openshell: {} } });
    expect(wrong.status).toBeGreaterThanOrEqual(500);
  });
});
