import { spawnSync } from "node:child_process";
import { createSandboxProvider, Sandbox } from "nemo-gym/sandbox";
import { skipWithoutBubblewrap } from "nemo-gym/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { clipped, keystrokeBatch, Terminal } from "./terminal.ts";

const hasTmux = spawnSync("tmux", ["-V"]).status === 0;
const { signal } = new AbortController();

async function open() {
  const provider = await createSandboxProvider({ name: "bubblewrap", settings: {} });
  const sandbox = new Sandbox(provider, { workdir: "/work" });
  await sandbox.start();
  onTestFinished(() => sandbox.stop());
  const terminal = new Terminal(sandbox, { width: 80, height: 10 });
  const type = (...commands: (string | [string, number])[]) =>
    terminal.type(
      keystrokeBatch.parse({
        commands: commands.map((command) =>
          typeof command === "string"
            ? { keystrokes: command, duration: 0.3 }
            : { keystrokes: command[0], duration: command[1] },
        ),
      }),
      signal,
    );
  /** Types, and looks until the terminal shows something, so that a slow machine does not fail the test. */
  const until = async (pattern: RegExp, command: string): Promise<string> => {
    let shown = await type(command);
    for (let times = 0; times < 100 && !pattern.test(shown); times++) shown = await type(["", 0.1]);
    expect(shown).toMatch(pattern);
    return shown;
  };
  return { sandbox, type, until };
}

describe.skipIf(skipWithoutBubblewrap || !hasTmux)("a terminal in a sandbox", () => {
  it("keeps its shell between batches, and shows what is new", async () => {
    const { type, until } = await open();
    await type("cd /tmp && NAME='a;'\n");
    const shown = await until(/name a; in \/tmp/, 'echo "name $NAME in $PWD"\n');
    expect(shown).toMatch(/^New output/);
    expect(shown).not.toContain("cd /tmp");
  });

  it("presses keys, also in programs that wait", async () => {
    const { type, until } = await open();
    await type("sleep 1000\n");
    await until(/\^C/, "C-c");
    await type("cat > note.txt\n", "C-d ;\n", "C-d");
    await until(/size 6/, "echo size $(wc -c < note.txt)\n");
  });

  it("opens a new shell after the last one has ended", async () => {
    const { until } = await open();
    await until(/ended/, "exit\n");
    await until(/^back again/m, "echo back again\n");
  });

  it("refuses a sandbox without tmux", async () => {
    const { sandbox } = await open();
    const bare = new Proxy(sandbox, {
      get: (target, key) => {
        const value = Reflect.get(target, key);
        if (typeof value !== "function") return value;
        return (command: unknown, ...rest: unknown[]) =>
          value.call(target, key === "exec" ? `PATH=/nowhere; ${String(command)}` : "true", ...rest);
      },
    });
    const terminal = new Terminal(bare, { width: 80, height: 10, openSeconds: 0 });
    await expect(terminal.type({ commands: [] }, signal)).rejects.toThrow("no tmux");
  });
});

it("cuts the middle of long outputs between characters", () => {
  const text = `ä${"é".repeat(5_000)}${"x".repeat(5_001)}`;
  expect(clipped("short")).toBe("short");
  expect(clipped(text)).toMatch(/^äé{2499}\n\[… 5003 bytes left out …\]\nx{5000}$/);
});
