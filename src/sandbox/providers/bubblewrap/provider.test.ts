import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Sandbox } from "../../sandbox.ts";
import type { SandboxSpecInput } from "../../spec.ts";
import { skip } from "./attacks/attacker.ts";
import { pidsOfTree } from "./memory-watch.ts";
import { BubblewrapProvider } from "./provider.ts";

const MIB = 1024 * 1024;

describe.skipIf(skip)("bubblewrap sandboxes", () => {
  const started: Sandbox[] = [];
  let directory: string;

  async function start(spec: SandboxSpecInput = {}, settings: unknown = {}): Promise<Sandbox> {
    const sandbox = new Sandbox(new BubblewrapProvider(settings), spec);
    started.push(sandbox);
    return sandbox.start();
  }

  beforeAll(() => {
    directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-test-"));
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((sandbox) => sandbox.stop()));
  });
  afterAll(() => rmSync(directory, { recursive: true }));

  it("runs commands in the work directory with only its own variables", async () => {
    process.env["GYM_TEST_SECRET"] = "do-not-show";
    const sandbox = await start({
      workdir: "/work",
      env: { A: "1", B: "two words $HOME" },
      files: { "/work/sub/x.txt": "héllo\n" },
    });
    const result = await sandbox.exec('pwd; cat sub/x.txt; echo "$A|$B|$C"; echo oops >&2; exit 3', {
      env: { A: "9", C: "c" },
    });
    expect(result).toEqual({
      stdout: "/work\nhéllo\n9|two words $HOME|c\n",
      stderr: "oops\n",
      return_code: 3,
      error_type: null,
    });
    const { stdout } = await sandbox.exec("env; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n'");
    expect(stdout).not.toContain("do-not-show");
    expect(stdout).not.toContain("GYM_TEST_SECRET");
    delete process.env["GYM_TEST_SECRET"];
  });

  it("keeps files between commands, but no processes", async () => {
    const sandbox = await start();
    await sandbox.exec("echo 1 > a; echo 2 > /srv-file; (sleep 300 & echo $! > pid)");
    const result = await sandbox.exec(
      "cat a /srv-file; kill -0 $(cat pid) 2>&1 || echo gone; ps ax | grep -c '[s]leep 300'",
    );
    expect(result.stdout).toContain("1\n2\n");
    expect(result.stdout).toContain("gone\n0\n");
  });

  it("copies files with any content in and out", async () => {
    const sandbox = await start({ workdir: "/work" });
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256));
    writeFileSync(path.join(directory, "in.bin"), bytes);
    await sandbox.upload(path.join(directory, "in.bin"), "/deep/er/-odd 'name'.bin");
    await sandbox.download("/deep/er/-odd 'name'.bin", path.join(directory, "new", "out.bin"));
    expect(readFileSync(path.join(directory, "new", "out.bin")).equals(bytes)).toBe(true);
    await expect(sandbox.download("/nowhere", path.join(directory, "nothing"))).rejects.toThrow(
      /No such file/,
    );
    expect(existsSync(path.join(directory, "nothing"))).toBe(false);
    await expect(sandbox.upload(path.join(directory, "absent"), "/x")).rejects.toThrow(/ENOENT/);
    await expect(sandbox.upload(path.join(directory, "in.bin"), "/usr/x")).rejects.toThrow(/Read-only/);
    // A link is followed inside the sandbox, so its target does not exist.
    await sandbox.exec(`ln -s ${directory}/in.bin link`);
    await expect(sandbox.download("/work/link", path.join(directory, "stolen"))).rejects.toThrow(
      /No such file/,
    );
    // A device has no end, unlike the files of a sandbox.
    await expect(sandbox.download("/dev/zero", path.join(directory, "zeros"))).rejects.toThrow(/larger/);
  });

  it("hides the machine: files, processes, network", async () => {
    writeFileSync(path.join(directory, "secret.txt"), "host-secret", { mode: 0o644 });
    const sandbox = await start();
    const read = await sandbox.exec(
      `cat ${directory}/secret.txt /etc/shadow /root/.bashrc /proc/1/root${directory}/secret.txt; ls ${directory} /home /root /mnt /sys; ls /tmp`,
    );
    expect(read.stdout).not.toContain("host-secret");
    expect(read.stdout).not.toContain("root:$");
    expect(read.return_code).toBe(0);
    const write = await sandbox.exec(
      "touch /usr/x /bin/x /lib/x /etc/x /dev/x; rm -rf /usr/bin/env; mv /etc /e; mount -t tmpfs t /tmp; unshare -Ur true",
    );
    expect(
      write.stderr?.match(/Read-only|denied|busy|must be superuser|not permitted|No space/g)?.length,
    ).toBeGreaterThanOrEqual(8);
    expect(existsSync("/usr/x")).toBe(false);
    const { stdout: links } = await sandbox.exec("cut -d: -f1 -s /proc/net/dev; ls /proc | grep -c '^[0-9]'");
    expect(links?.split(/\s+/)).toEqual(["", "lo", expect.stringMatching(/^\d$/), ""]);
    const network = await sandbox.exec(
      "python3 -c \"import socket; socket.create_connection(('1.1.1.1', 80), 3)\" 2>&1 | tail -1",
    );
    expect(network.stdout).toMatch(/unreachable/);
  });

  it("has no rights, not even as its own root", async () => {
    const sandbox = await start();
    const { stdout } = await sandbox.exec(
      "id -u; grep -h CapEff /proc/self/status; touch made; chown 5:5 made 2>&1",
      { user: "root" },
    );
    expect(stdout).toMatch(/^0\nCapEff:\t0000000000000000\nchown: .*(not permitted|Invalid argument)/);
    await expect(sandbox.exec("id -u")).resolves.toMatchObject({ stdout: "1000\n" });
    await expect(sandbox.exec("id -u", { user: "nobody-else" })).rejects.toThrow(/no user 'nobody-else'/);
  });

  it("kills everything at the time limit", async () => {
    const sandbox = await start();
    const result = await sandbox.exec(
      "echo begun; (trap '' TERM HUP INT; setsid sh -c 'while :; do :; done' &) ; while :; do sleep 0.01; done",
      { timeoutSeconds: 1 },
    );
    expect(result).toMatchObject({ stdout: "begun\n", return_code: 125, error_type: "timeout" });
    expect(result.stderr).toContain("longer than 1 s");
    const { stdout } = await sandbox.exec("ps ax");
    expect(stdout).not.toContain("while :");
    expect(execFileSync("ps", ["ax"], { encoding: "utf8" })).not.toContain("trap '' TERM HUP INT");
  });

  it("limits the number of processes", async () => {
    const sandbox = await start({}, { limits: { processes: 20 } });
    const { stdout } = await sandbox.exec(
      'python3 -c "\nimport os, time\nn = 0\ntry:\n    while n < 500:\n        if os.fork() == 0:\n            time.sleep(30)\n            os._exit(0)\n        n += 1\nexcept OSError as e:\n    print(n, e.strerror)\n"',
      { timeoutSeconds: 20 },
    );
    const [count, ...message] = (stdout ?? "").split(" ");
    expect(Number(count)).toBeGreaterThan(5);
    expect(Number(count)).toBeLessThan(20);
    expect(message.join(" ")).toContain("temporarily unavailable");
    // The result of the shell beside its fork bomb is random. Everything must end with it.
    await sandbox.exec("bomb() { bomb | bomb & }; bomb; sleep 1", { timeoutSeconds: 5 });
    expect(execFileSync("ps", ["ax"], { encoding: "utf8" })).not.toContain("bomb() {");
    await expect(sandbox.exec("echo fine")).resolves.toMatchObject({ stdout: "fine\n" });
  });

  it("limits the memory of one process and of all together", async () => {
    const sandbox = await start({ resources: { memory_mib: 128 } });
    const one = await sandbox.exec('python3 -c "x = bytearray(200 << 20)"');
    expect(one).toMatchObject({ return_code: 1, error_type: null });
    expect(one.stderr).toContain("MemoryError");
    const together = await sandbox.exec(
      "for i in 1 2 3 4; do python3 -c \"import time; x = b'x' * (60 << 20); time.sleep(20)\" & done; wait; echo survived",
      { timeoutSeconds: 30 },
    );
    expect(together).toMatchObject({ stdout: "", return_code: 137, error_type: "memory" });
    const shared = await sandbox.exec(
      "python3 -c \"import mmap, time; m = mmap.mmap(-1, 300 << 20); m.write(b'x' * (100 << 20)); m.write(b'y' * (100 << 20)); time.sleep(20)\"",
      { timeoutSeconds: 30 },
    );
    expect(shared).toMatchObject({ error_type: "memory" });
    await expect(sandbox.exec("python3 -c 'print(1)'")).resolves.toMatchObject({ stdout: "1\n" });
  });

  it("limits the size of all files", async () => {
    const sandbox = await start({}, { limits: { disk_mib: 8 } });
    const { stderr, stdout } = await sandbox.exec(
      "for i in 1 2 3; do head -c 5000000 /dev/zero > f$i; done; head -c 20000000 /dev/zero > /tmp/g; du -sm --one-file-system / 2>/dev/null | cut -f1; head -c 50000000 /dev/zero > /dev/shm/x",
    );
    expect(stderr?.match(/No space left|File too large|File size limit/g)?.length).toBeGreaterThanOrEqual(2);
    expect(Number(stdout)).toBeLessThanOrEqual(9);
  });

  it("discards output above the limit", async () => {
    const sandbox = await start({}, { exec: { max_output_bytes: 1000 } });
    const before = process.memoryUsage().rss;
    const result = await sandbox.exec(
      "head -c 104857600 /dev/zero | tr '\\0' x; head -c 5000 /dev/zero >&2; exit 4",
      { timeoutSeconds: 60 },
    );
    expect(result).toMatchObject({
      stdout: "x".repeat(1000),
      return_code: 4,
      error_type: null,
      output_truncated: true,
    });
    expect(result.stderr).toHaveLength(1000);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB);
  });

  it("limits the cores and the CPU time", async () => {
    const sandbox = await start({ resources: { cpu: 0.5 } });
    await expect(sandbox.exec("nproc; ulimit -t", { timeoutSeconds: 7 })).resolves.toMatchObject({
      stdout: "1\n8\n",
    });
  });

  it("stops a command when its signal fires", async () => {
    const sandbox = await start();
    const controller = new AbortController();
    const running = sandbox.exec("sleep 4321", { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("given up")), 300);
    await expect(running).rejects.toThrow("given up");
    expect(execFileSync("ps", ["ax"], { encoding: "utf8" })).not.toContain("sleep 4321");
    await expect(sandbox.exec("true", { signal: controller.signal })).rejects.toThrow("given up");
  });

  it("takes standard input", async () => {
    const sandbox = await start();
    await expect(sandbox.exec("cat | wc -c", { stdin: "x".repeat(200_000) })).resolves.toMatchObject({
      stdout: "200000\n",
    });
    await expect(sandbox.exec("true", { stdin: "x".repeat(500_000) })).resolves.toMatchObject({
      return_code: 0,
    });
    await expect(sandbox.exec("cat")).resolves.toMatchObject({ stdout: "" });
  });

  it("ends with its commands and leaves nothing behind", async () => {
    const sandbox = await start();
    await expect(sandbox.status()).resolves.toBe("running");
    const running = sandbox.exec("sleep 5432");
    await new Promise((resolve) => setTimeout(resolve, 300));
    await sandbox.stop();
    await expect(running).resolves.toMatchObject({ return_code: 125, error_type: "sandbox" });
    await expect(sandbox.status()).resolves.toBe("stopped");
    expect(execFileSync("ps", ["ax"], { encoding: "utf8" })).not.toContain("sleep 5432");
    const left = await pidsOfTree(process.pid);
    expect(left.map(commandLine).filter((line) => line.includes("nemo-gym-sandbox-"))).toEqual([]);
  });

  it("ends after its time to live", async () => {
    const sandbox = await start({ ttl_s: 1 });
    await expect(sandbox.exec("sleep 30")).resolves.toMatchObject({ error_type: "sandbox" });
    await expect(sandbox.exec("true")).resolves.toMatchObject({ return_code: 125, error_type: "sandbox" });
    await expect(sandbox.status()).resolves.toBe("stopped");
  });

  it("isolates sandboxes from each other", async () => {
    const [one, two] = await Promise.all([start(), start()]);
    await one.exec("echo secret > /tmp/a");
    await expect(two.exec("cat /tmp/a")).resolves.toMatchObject({ return_code: 1 });
  });

  it("uses the programs of an unpacked image", async () => {
    const image = path.join(directory, "image");
    execFileSync("mkdir", [
      "-p",
      `${image}/bin`,
      `${image}/testbed`,
      `${image}/opt`,
      `${image}/etc`,
      `${image}/proc`,
    ]);
    execFileSync("cp", ["-rL", "/bin/sh", "/bin/cat", "/bin/ls", "/bin/rm", `${image}/bin/`]);
    for (const library of ["lib", "lib64"]) execFileSync("mkdir", ["-p", `${image}/${library}`]);
    copyLibraries(image);
    writeFileSync(`${image}/testbed/code.txt`, "original");
    writeFileSync(`${image}/opt/tool.txt`, "tool");
    execFileSync("chmod", ["-R", "a+rX", directory]);
    const sandbox = await start({ image, workdir: "/testbed" });
    const result = await sandbox.exec(
      "cat code.txt /opt/tool.txt; echo changed > code.txt; echo x > /opt/tool.txt; cat code.txt",
    );
    expect(result.stdout).toBe("originaltoolchanged\n");
    expect(result.stderr).toMatch(/Read-only/);
    expect(readFileSync(`${image}/testbed/code.txt`, "utf8")).toBe("original");
  });

  it("adds the files of a directory without programs to those of this machine", async () => {
    const image = path.join(directory, "files-only");
    execFileSync("mkdir", ["-p", `${image}/testbed`, `${image}/opt`]);
    writeFileSync(`${image}/testbed/code.py`, "print(6 * 7)");
    writeFileSync(`${image}/opt/tool.txt`, "tool");
    execFileSync("chmod", ["-R", "a+rX", directory]);
    const sandbox = await start({ image, workdir: "/testbed" });
    const result = await sandbox.exec("python3 code.py; echo x >> code.py; cat /opt/tool.txt; id -un");
    expect(result).toMatchObject({ stdout: "42\ntoolsandbox\n", stderr: "", return_code: 0 });
    expect(readFileSync(`${image}/testbed/code.py`, "utf8")).toBe("print(6 * 7)");
  });

  it("rejects unsupported specs with a clear message", async () => {
    await expect(start({ image: "python:3.12" })).rejects.toThrow(
      /cannot run container images such as 'python:3.12'.*'docker'/s,
    );
    await expect(start({ image: "/nowhere" })).rejects.toThrow(/not a directory/);
    await expect(start({ ports: [8080] })).rejects.toThrow(/'ports'/);
    await expect(start({ resources: { gpu: 1 } })).rejects.toThrow(/resources.gpu/);
    await expect(start({ workdir: "/usr/src" })).rejects.toThrow(/workdir '\/usr\/src'/);
    await expect(start({ workdir: "relative" })).rejects.toThrow(/absolute/);
    expect(() => new BubblewrapProvider({ limit: {} })).toThrow(/'bubblewrap' do not fit.*'limit'/);
  });
});

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function copyLibraries(image: string): void {
  const listed = execFileSync("sh", ["-c", "ldd /bin/sh /bin/cat /bin/ls /bin/rm"], { encoding: "utf8" });
  const files = new Set(listed.match(/\/\S+\.so\S*/g));
  for (const file of files) {
    execFileSync("mkdir", ["-p", `${image}${path.dirname(file)}`]);
    execFileSync("cp", ["-L", file, `${image}${file}`]);
  }
}
