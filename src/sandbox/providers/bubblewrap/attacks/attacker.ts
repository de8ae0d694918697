import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach } from "vitest";
import { isInstalled } from "../../../../base/door.ts";
import type { ExecOptions, SandboxExecResult } from "../../../provider.ts";
import { Sandbox } from "../../../sandbox.ts";
import type { SandboxSpecInput } from "../../../spec.ts";
import { BubblewrapProvider } from "../provider.ts";

/** Whether to skip the tests: only if bubblewrap is missing, and never in CI, which must run them. */
export const skip = process.env["CI"] === undefined && !isInstalled("bwrap");
if (skip) console.warn("bubblewrap is not installed: the tests of the bubblewrap sandbox do not run");

/** The first lines of every probe: raw system calls by number, for x86-64 and arm64. */
const PRELUDE = `
import ctypes, errno, os, platform, socket, sys, time
libc = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"
def call(x64, arm64, *args):
    ctypes.set_errno(0)
    result = libc.syscall(arm64 if ARM else x64, *args)
    return result if result != -1 else errno.errorcode[ctypes.get_errno()]
def attempt(action):
    try:
        return action()
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error))
`;

/** Creates sandboxes and a directory on the machine, and removes them after the tests of a file. */
export function attacker() {
  const started: Sandbox[] = [];
  // Readable by all users, so that only the sandbox hides it from its commands.
  const directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-attack-"));
  execFileSync("chmod", ["755", directory]);
  afterEach(async () => {
    await Promise.all(started.splice(0).map((sandbox) => sandbox.stop()));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return {
    directory,
    async start(spec: SandboxSpecInput = {}, settings: unknown = {}): Promise<Sandbox> {
      const sandbox = new Sandbox(new BubblewrapProvider(settings), spec);
      started.push(sandbox);
      return sandbox.start();
    },
  };
}

/** Runs Python code in a sandbox. */
export function python(
  sandbox: Sandbox,
  code: string,
  options: ExecOptions = {},
): Promise<SandboxExecResult> {
  return sandbox.exec("python3 -", { timeoutSeconds: 30, ...options, stdin: `${PRELUDE}\n${code}` });
}

/** The command lines of all processes of this machine. */
export function processes(): string {
  return execFileSync("ps", ["-A", "-ww", "-o", "args"], { encoding: "utf8" });
}
