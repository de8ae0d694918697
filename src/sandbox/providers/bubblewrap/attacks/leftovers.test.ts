import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { pidsOfTree } from "../memory-watch.ts";
import { attacker, processes, skip } from "./attacker.ts";

const SOURCE = fileURLToPath(new URL("../../../../", import.meta.url));
const JITI = fileURLToPath(new URL("../../../../../node_modules/jiti/lib/jiti.mjs", import.meta.url));

/** The source of a separate program that only its own work keeps alive. */
function program(body: string): string {
  return `
import { createJiti } from ${JSON.stringify(JITI)};
const jiti = createJiti(${JSON.stringify(SOURCE)}, { fsCache: false });
const { BubblewrapProvider } = await jiti.import("./sandbox/providers/bubblewrap/provider.ts");
const { Sandbox } = await jiti.import("./sandbox/sandbox.ts");
const start = (spec = {}) => new Sandbox(new BubblewrapProvider(), spec).start();
${body}`;
}

describe.skipIf(skip)("leftovers of a sandbox", () => {
  const { directory, start } = attacker();

  function run(name: string, body: string) {
    const file = path.join(directory, `${name}.mjs`);
    const temporary = path.join(directory, `${name}-tmp`);
    mkdirSync(temporary);
    writeFileSync(file, program(body));
    const child = spawn(process.execPath, [file], {
      env: { ...process.env, TMPDIR: temporary },
      stdio: ["ignore", "pipe", "inherit"],
    });
    return { child, temporary };
  }

  it("a program that stops its sandbox continues and leaves no file behind", async () => {
    const { child, temporary } = run(
      "stops",
      `const sandbox = await start({ files: { "a.txt": "x" } });
await sandbox.stop();
process.stdout.write("stopped");`,
    );
    const output: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => output.push(chunk));
    expect((await once(child, "close"))[0]).toBe(0);
    expect(Buffer.concat(output).toString()).toBe("stopped");
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("kill -9 of the program leaves no process and no file behind", async () => {
    const { child, temporary } = run(
      "killed",
      `const sandboxes = await Promise.all([start({ files: { "a.txt": "x" } }), start()]);
for (const sandbox of sandboxes) sandbox.exec("setsid sleep 86397 & sleep 86397");
setTimeout(() => process.stdout.write("running"), 500);`,
    );
    await once(child.stdout ?? child, "data");
    const tree = await pidsOfTree(child.pid ?? 0);
    expect(tree.length).toBeGreaterThan(6);
    expect(processes()).toContain("sleep 86397");
    child.kill("SIGKILL");
    await once(child, "close");
    await expect.poll(() => processes(), { timeout: 5000 }).not.toContain("sleep 86397");
    expect(processes()).not.toContain(temporary);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it("a command that damages its own sandbox fails; the sandbox does not", async () => {
    for (const ruin of [
      "rm -rf /workspace",
      "chmod 000 /",
      "chmod 000 /workspace",
      "rm -rf /workspace; touch /workspace",
    ]) {
      const sandbox = await start();
      await sandbox.exec(`cd /; ${ruin}`);
      const result = await sandbox.exec("echo unreachable");
      expect(result, ruin).toMatchObject({ error_type: null, stdout: "" });
      expect(result.return_code, ruin).not.toBe(0);
    }
    const sandbox = await start();
    await expect(sandbox.exec("true", { cwd: "/nowhere" })).resolves.toMatchObject({
      error_type: null,
      return_code: 126,
      stderr: expect.stringContaining("/nowhere"),
    });
  });

  it("reports an upload whose source cannot be read", async () => {
    const sandbox = await start();
    await expect(sandbox.upload(directory, "/tmp/a")).rejects.toThrow(/not a regular file/);
    await expect(sandbox.upload("/proc/self/mem", "/tmp/a")).rejects.toThrow(/could not be read: EIO/);
    await expect(sandbox.upload(path.join(directory, "absent"), "/tmp/a")).rejects.toMatchObject({
      code: "SANDBOX_TRANSFER",
    });
  });
});
