/** Tests the limits of control groups on the current kernel, and writes the results to a file. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { newSandboxName } from "../../../owner.ts";
import { runProcess } from "../../../processes/run-process.ts";
import { Sandbox } from "../../../sandbox.ts";
import { CommandGroup, findCgroups } from "../cgroup.ts";
import { BubblewrapProvider } from "../provider.ts";

const MIB = 1024 * 1024;
const LIMITS = {
  cpu: 1,
  memoryBytes: 96 * MIB,
  diskBytes: 32 * MIB,
  files: 1000,
  processes: 20,
  openFiles: 100,
};

const found = await findCgroups();
if ("missing" in found) throw new Error(found.missing);
const place = found;
const { directory } = place;
const groups = () => readdirSync(directory).filter((name) => name.startsWith("nemo-gym-"));

/** Runs Python in a control group, without a sandbox and without other limits. */
async function inGroup(code: string, limits: Partial<typeof LIMITS> = {}) {
  const group = await CommandGroup.create(place, { ...LIMITS, ...limits });
  const [name = ""] = groups();
  try {
    const outcome = await runProcess({
      program: "python3",
      args: ["-c", "import sys; exec(sys.stdin.read())"],
      stdin: code,
      cgroupProcs: group.procs,
      timeoutMs: 60_000,
      maxOutputBytes: 10_000,
    });
    const usage = readFileSync(path.join(directory, name, "cpu.stat"), "utf8");
    return {
      ...outcome,
      outOfMemory: await group.ranOutOfMemory(),
      throttled: Number(/^nr_throttled (\d+)/m.exec(usage)?.[1]),
    };
  } finally {
    await group.remove();
  }
}

const forked = await inGroup(`
import errno, os, time
count = 1
try:
    while count < 500:
        if os.fork() == 0:
            time.sleep(30)
            os._exit(0)
        count += 1
except OSError as error:
    print(count, errno.errorcode[error.errno])`);
const filled = await inGroup('held = b"x" * (400 << 20); print("held")');
const busy = await inGroup("import time\nend = time.time() + 1\nwhile time.time() < end: pass", { cpu: 0.2 });
const afterGroups = groups();

const settings = { limits: { memory_mib: 96, disk_mib: 32, processes: 30 } };
const provider = new BubblewrapProvider(settings);
const sandbox = await new Sandbox(provider, {}).start();
const running = sandbox.exec(
  "head -c 20000000 /dev/zero > file; while [ ! -e /tmp/seen ]; do sleep 0.1; done; echo fine; setsid sleep 300 &",
);
const membersOf = (name: string) =>
  readFileSync(path.join(directory, name, "cgroup.procs"), "utf8")
    .trim()
    .split("\n").length;
while (!groups().some((name) => membersOf(name) > 2)) await new Promise((resolve) => setTimeout(resolve, 50));
const during = groups().map((name) => ({
  pids: readFileSync(path.join(directory, name, "pids.max"), "utf8").trim(),
  memory: readFileSync(path.join(directory, name, "memory.max"), "utf8").trim(),
  members: membersOf(name),
}));
await sandbox.writeText("/tmp/seen", "");
const sandboxed = await running;
const after = groups();
const bomb = await sandbox.exec(
  "python3 -c 'held = bytearray(90 << 20); import os; [os.fork() for _ in range(3)]; held[:] = b\"y\" * len(held)'",
);
const goesOn = await sandbox.exec("echo fine");
await sandbox.stop();

// The group of an ended process: the process id of ours, with another start time.
const left = path.join(directory, newSandboxName().replace(/-[0-9a-z]+(?=-[0-9a-f]{16}$)/, "-0"));
mkdirSync(left);
const listed = (await provider.list()).filter(({ state }) => state === "left behind");
for (const { id } of listed) await provider.remove(id);

const results = {
  ...{ forked, filled, busy, afterGroups, during, sandboxed, after, bomb, goesOn },
  ...{ listed: listed.length, afterRemoval: groups(), check: await provider.check() },
};
writeFileSync(process.argv[2] ?? "/dev/stdout", JSON.stringify(results));
