import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach } from "vitest";
import type { ExecOptions, SandboxExecResult } from "../../../provider.ts";
import { Sandbox } from "../../../sandbox.ts";
import type { SandboxSpecInput } from "../../../spec.ts";
import { BubblewrapProvider } from "../provider.ts";

/** Whether to leave the attacks out: only where bubblewrap is missing, and never on the machine that runs all tests. */
export const skip = process.env["CI"] === undefined && !isInstalled();
if (skip) console.warn("bubblewrap is not installed: the attacks on the sandbox do not run");

function isInstalled(): boolean {
  try {
    execFileSync("bwrap", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Lines every probe starts with: raw system calls by number, for x86-64 and arm64. */
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

/** Sandboxes and a directory on the machine that end with the tests of one file. */
export function attacker() {
  const started: Sandbox[] = [];
  // Readable by everybody, so that only the sandbox keeps it from its commands.
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

/** What the processes of this machine are called. */
export function processes(): string {
  return execFileSync("ps", ["-A", "-ww", "-o", "args"], { encoding: "utf8" });
}
