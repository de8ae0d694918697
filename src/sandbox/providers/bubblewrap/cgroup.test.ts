import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { isInstalled } from "../../../base/installed-program.ts";
import { type CgroupParent, findCgroups } from "./cgroup.ts";
import { BubblewrapProvider } from "./provider.ts";

const directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-cgroup-"));
afterAll(() => rmSync(directory, { recursive: true }));

describe("the search for control groups", () => {
  let made = 0;

  /** Creates the files of a hierarchy as the kernel does: the controllers of each group, and those it delegates. */
  async function search(
    own: string,
    groups: Record<string, { controllers: string; handedOn: string }>,
    mount = "/ MOUNT rw - cgroup2",
  ): Promise<CgroupParent | string> {
    const root = path.join(directory, `hierarchy-${++made}`);
    for (const [name, { controllers, handedOn }] of Object.entries(groups)) {
      mkdirSync(path.join(root, name), { recursive: true });
      writeFileSync(path.join(root, name, "cgroup.procs"), "");
      writeFileSync(path.join(root, name, "cgroup.controllers"), `${controllers}\n`);
      writeFileSync(path.join(root, name, "cgroup.subtree_control"), `${handedOn}\n`);
    }
    mkdirSync(path.join(root, "proc"), { recursive: true });
    writeFileSync(path.join(root, "proc", "cgroup"), `4:memory:/old\n0::${own}\n`);
    writeFileSync(
      path.join(root, "proc", "mountinfo"),
      `30 20 0:25 ${mount.replace("MOUNT", root)} none rw\n`,
    );
    const place = await findCgroups(path.join(root, "proc"));
    return "directory" in place ? `${path.relative(root, place.directory)} ${place.hasCpu}` : place;
  }
  const all = "cpu io memory pids";

  it("uses the nearest group that delegates controllers", async () => {
    await expect(
      search("/user/app.slice/run.scope", {
        user: { controllers: all, handedOn: all },
        "user/app.slice": { controllers: all, handedOn: "memory pids" },
        // The group contains processes, so the kernel does not allow to enable controllers.
        "user/app.slice/run.scope": { controllers: "memory pids", handedOn: "memory" },
      }),
    ).resolves.toBe("user/app.slice false");
    // Controllers are not enabled in a group above that of this process.
    await expect(
      search("/user/run.scope", {
        ".": { controllers: all, handedOn: all },
        user: { controllers: all, handedOn: "" },
      }),
    ).resolves.toBe(" true");
  });

  it("finds groups if a container has mounted a part of the hierarchy", async () => {
    await expect(
      search("/docker/1/own", { own: { controllers: all, handedOn: all } }, "/docker/1 MOUNT rw - cgroup2"),
    ).resolves.toBe("own true");
    await expect(search("/../other", { own: { controllers: all, handedOn: all } })).resolves.toEqual({
      missing: "the group of this process is not visible here",
    });
  });

  it("reports why no group can be used", async () => {
    await expect(search("/", { ".": { controllers: "hugetlb", handedOn: "" } })).resolves.toEqual({
      missing: expect.stringMatching(/has no controller memory, pids$/),
    });
    await expect(search("/", {}, "/ MOUNT rw - tmpfs")).resolves.toEqual({
      missing: "cgroup v2 is not mounted",
    });
    await expect(search("/gone", {})).resolves.toEqual({ missing: expect.stringContaining("ENOENT") });
    const provider = new BubblewrapProvider({ cgroup: path.join(directory, "none") });
    await expect(provider.check()).rejects.toMatchObject({
      code: "SANDBOX_PROVIDER_UNAVAILABLE",
      message: expect.stringContaining("cannot be used: ENOENT"),
    });
    expect(() => new BubblewrapProvider({ cgroup: "yes" })).toThrow(/'auto', 'none' or an absolute path/);
  });
});

const place = await findCgroups();
const hasUml = isInstalled("linux.uml");
const skip = process.env["CI"] === undefined && "missing" in place && !hasUml;
if (skip) console.warn("no control groups here, and no linux.uml (package user-mode-linux) to try them on");

const PROGRAM = fileURLToPath(new URL("testdata/limits-of-groups.ts", import.meta.url));
const REPOSITORY = fileURLToPath(new URL("../../../../", import.meta.url));

/** Runs the program on this machine if control groups can be created, otherwise in User-Mode Linux with the files of this machine. */
async function limitsOfGroups() {
  const result = path.join(directory, "result.json");
  const words = ["--import", "jiti/register", PROGRAM, result];
  if ("directory" in place) await promisify(execFile)(process.execPath, words, { cwd: REPOSITORY });
  else {
    const log = path.join(directory, "log.txt");
    const init = path.join(directory, "init.sh");
    const powerOff = "import ctypes; ctypes.CDLL(None).reboot(0x4321fedc)";
    writeFileSync(
      init,
      `#!/bin/sh
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup
cd ${REPOSITORY}
PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin ${process.execPath} ${words.join(" ")} > ${log} 2>&1
python3 -c '${powerOff}'
`,
      { mode: 0o755 },
    );
    const kernel = ["root=/dev/root", "rootfstype=hostfs", "rootflags=/", "rw", "mem=1G", `init=${init}`];
    await promisify(execFile)("linux.uml", [...kernel, "quiet", "con=null", "con0=null"], {
      env: { PATH: process.env["PATH"], HOME: directory, TMPDIR: directory },
      timeout: 180_000,
    }).catch(() => undefined);
    process.stderr.write(readFileSync(log, "utf8"));
  }
  return JSON.parse(readFileSync(result, "utf8"));
}

describe.skipIf(skip)("limits of control groups", () => {
  it("limit processes, memory and CPU of a command together, and are removed afterwards", {
    timeout: 240_000,
  }, async () => {
    const results = await limitsOfGroups();
    const [count, reason] = results.forked.stdout.trim().split(" ");
    expect([Number(count) <= 24, reason]).toEqual([true, "EAGAIN"]);
    expect(results.forked.outOfMemory).toBe(false);
    expect(results.filled).toMatchObject({ stdout: "", code: 137, outOfMemory: true });
    expect(results.busy.throttled).toBeGreaterThan(3);
    expect(results.afterGroups).toEqual([]);
    // A sandbox runs each command in its own group. Files count as memory, so their limit is added.
    expect(results.during).toEqual([
      { pids: "34", memory: String(128 * 1024 * 1024), members: expect.any(Number) },
    ]);
    expect(results.during[0].members).toBeGreaterThan(1);
    expect(results.sandboxed).toMatchObject({ stdout: "fine\n", return_code: 0, error_type: null });
    expect(results.after).toEqual([]);
    // A program that the kernel kills for its memory use has failed itself.
    expect(results.bomb).toMatchObject({ error_type: "memory", return_code: 137 });
    expect(results.goesOn).toMatchObject({ stdout: "fine\n", error_type: null });
    expect(results).toMatchObject({ listed: 1, afterRemoval: [] });
    expect(results.check).toMatch(/^bubblewrap .*; control groups in \//);
  });
});
