import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterEach, describe, expect, it } from "vitest";
import { isInstalled } from "../../base/installed-program.ts";
import { silentLogger } from "../../base/logger.ts";
import { pidsOfTree } from "../providers/bubblewrap/memory-watch.ts";
import { type CodeRunner, createCodeRunner } from "./code-runner.ts";
import { harnessFile, pythonProgram } from "./programs.ts";
import { runPythonTests } from "./python-tests.ts";

const isMissing = process.env["CI"] === undefined && !isInstalled("bwrap");
if (isMissing) console.warn("bubblewrap is not installed: the code runner is not tried");

describe.skipIf(isMissing)("the code runner", () => {
  const runners: CodeRunner[] = [];
  afterEach(async () => {
    await Promise.all(runners.splice(0).map((runner) => runner.close()));
  });
  function runner(config: object = {}): CodeRunner {
    const made = createCodeRunner({ name: "test", config, globalConfig: {}, log: silentLogger } as never);
    runners.push(made);
    return made;
  }

  it("runs programs in Python and JavaScript", async () => {
    const made = runner();
    await expect(
      made.run({ language: "python", code: "print(int(input()) * 2)", stdin: "21", timeoutSeconds: 20 }),
    ).resolves.toMatchObject({ stdout: "42\n", return_code: 0, error_type: null });
    const code = "process.stdin.on('data', (text) => console.log(Number(text) * 2))";
    await expect(
      made.run({ language: "javascript", code, stdin: "21", timeoutSeconds: 20 }),
    ).resolves.toMatchObject({ stdout: "42\n", return_code: 0 });
    await expect(
      made.run({ language: "python", code: "while True: pass", timeoutSeconds: 1 }),
    ).resolves.toMatchObject({ error_type: "timeout" });
  });

  it("says why a Python below /tmp is not found", async () => {
    const made = runner({ python: "/tmp/venv/bin/python" });
    const tests = { inputs: [""], outputs: [""] };
    await expect(runPythonTests(made, { code: "", tests, timeoutSeconds: 2 })).rejects.toThrow(
      /not found.*its own \/tmp.*'\/tmp\/venv\/bin\/python'.*read_only_paths/s,
    );
  });

  it("runs tests of functions and of output until one fails", async () => {
    const made = runner();
    const run = (code: string, tests: Parameters<typeof runPythonTests>[1]["tests"]) =>
      runPythonTests(made, { code, tests, timeoutSeconds: 2 });
    const printed = await run("print(int(input()) ** 2)", {
      inputs: ["2", "3", "4"],
      outputs: ["4", "9.0", "15"],
    });
    expect(printed).toMatchObject({
      results: [true, true, -2],
      metadata: { output: "16\n", expected: "15" },
    });
    const called = await run("def f(a, b): return (a, b)", {
      inputs: ["1\n2"],
      outputs: ["[1, 2]"],
      fn_name: "f",
    });
    expect(called.results).toEqual([true]);
    await expect(run("while True: pass", { inputs: [""], outputs: [""] })).resolves.toMatchObject({
      results: [-3],
    });
    await expect(run("import os\nos._exit(0)", { inputs: ["", ""], outputs: ["", ""] })).resolves.toEqual({
      results: [-1, -1],
      metadata: null,
    });
    await expect(run("x = bytearray(4 << 30)", { inputs: [""], outputs: [""] })).resolves.toMatchObject({
      results: [-4],
      metadata: { error: "MemoryError()" },
    });
  });

  it("prevents a program from replying as the harness and from reading expected outputs", async () => {
    const nosy = `
import os, gc
for descriptor in range(3, 20):
    try:
        os.write(descriptor, b'{"output": "secret"}\\n')
    except OSError:
        pass
print([item for item in gc.get_objects() if isinstance(item, str) and "5ecr3t" in item])`;
    const report = await runPythonTests(runner(), {
      code: nosy,
      tests: { inputs: ["x"], outputs: ["5ecr3t"] },
      timeoutSeconds: 5,
    });
    expect(report.results[0]).not.toBe(true);
  });

  it("keeps the state of a session, and starts again after its end", async () => {
    const session = await runner().openSession(
      `${pythonProgram(harnessFile("harness.py"))}
state = {}
def handle(request):
    exec(request["code"], state)
    return {"x": state.get("x")}
Channel().serve(handle)`,
    );
    const ask = (code: string, timeoutMs = 10_000) => session.ask({ code }, { timeoutMs });
    await expect(ask("x = 1")).resolves.toEqual({ status: "answered", value: { x: 1 } });
    await expect(ask("x += 1")).resolves.toEqual({ status: "answered", value: { x: 2 } });
    await expect(ask("import os; os._exit(3)")).resolves.toMatchObject({ status: "ended" });
    await expect(ask("pass")).resolves.toEqual({ status: "answered", value: { x: null } });
    await expect(ask("while True: pass", 500)).resolves.toEqual({ status: "timeout" });
    await session.close();
  });

  it("reports a missing sandbox as a failure, never as a result", async () => {
    const run = (config: object) =>
      runner(config).run({ language: "python", code: "print(1)", timeoutSeconds: 5 });
    await expect(run({ sandbox_provider: { openshell: {} } })).rejects.toMatchObject({
      status: 503,
      failure: { class: "sandbox_unavailable", retryable: false },
    });
    const path = process.env["PATH"];
    process.env["PATH"] = "/nowhere";
    try {
      await expect(run({})).rejects.toMatchObject({ failure: { class: "sandbox_unavailable" } });
    } finally {
      process.env["PATH"] = path;
    }
    expect(() => runner({ sandbox: "off" })).toThrow();
  });

  it("runs without a sandbox only if the config requests it", async () => {
    const before = readdirSync(tmpdir()).filter((name) => name.startsWith("nemo-gym-unconfined-"));
    const made = runner({ sandbox: "none" });
    const code = "import os; print(os.getppid() > 3)";
    await expect(made.run({ language: "python", code, timeoutSeconds: 10 })).resolves.toMatchObject({
      stdout: "True\n",
    });
    const report = await runPythonTests(made, {
      code: "print(1)",
      tests: { inputs: [""], outputs: ["1"] },
      timeoutSeconds: 5,
    });
    expect(report.results).toEqual([true]);
    await made.close();
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("nemo-gym-unconfined-"))).toEqual(before);
  });

  it("leaves no process behind", async () => {
    // The work directory distinguishes these sandboxes from those of tests that run at the same time.
    const workdir = "/leaves-nothing";
    const made = runner({ sandbox_spec: { workdir } });
    const tests = { inputs: ["1"], outputs: ["1"] };
    await Promise.all(
      Array.from({ length: 6 }, () =>
        runPythonTests(made, { code: "print(input())", tests, timeoutSeconds: 5 }),
      ),
    );
    await made.close();
    const names = (await pidsOfTree(process.pid)).map((pid) => {
      try {
        return execFileSync("ps", ["-o", "args=", "-p", String(pid)], { encoding: "utf8" });
      } catch {
        return "";
      }
    });
    expect(names.filter((name) => name.includes(workdir))).toEqual([]);
  });
});
