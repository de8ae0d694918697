import { execFileSync } from "node:child_process";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { parseSandboxSpec } from "../../../spec.ts";
import { BubblewrapProvider } from "../provider.ts";
import { attacker, processes, python, skip } from "./attacker.ts";

describe.skipIf(skip)("ways out of a sandbox", () => {
  const { directory, start } = attacker();
  const injection = "\0--share-net\0--bind\0/\0/host";

  it("rejects texts with zero bytes from every source", async () => {
    const sandbox = await start();
    const zero = { code: "SANDBOX_SPEC", message: expect.stringMatching(/zero byte|name of an environment/) };
    await expect(sandbox.exec("ls /host", { cwd: `/tmp${injection}` })).rejects.toMatchObject(zero);
    await expect(sandbox.exec("ls /host", { env: { A: `1${injection}` } })).rejects.toMatchObject(zero);
    await expect(sandbox.exec("ls /host", { env: { [`A\0${injection}`]: "1" } })).rejects.toMatchObject(zero);
    await expect(sandbox.exec("ls /host", { user: `root${injection}` })).rejects.toMatchObject(zero);
    await expect(sandbox.exec(`ls${injection}`)).resolves.toMatchObject({ return_code: 126, stdout: "" });
    await expect(sandbox.writeText(`/a${injection}`, "x")).rejects.toMatchObject(zero);
    await expect(sandbox.download(`/a${injection}`, path.join(directory, "x"))).rejects.toMatchObject(zero);
    await expect(start({ env: { A: `1${injection}` } })).rejects.toThrow(/zero byte/);
    await expect(start({ workdir: `/w${injection}` })).rejects.toThrow(/zero byte/);
    await expect(start({ files: { [`/w${injection}`]: "" } })).rejects.toThrow(/zero byte/);
    expect(() => new BubblewrapProvider({ read_only_paths: [`/usr${injection}`] })).toThrow(/zero byte/);
    for (const name of ["", "A=B", "A B"])
      await expect(sandbox.exec("true", { env: { [name]: "1" } })).rejects.toMatchObject(zero);
  });

  it("rejects them in direct calls of the provider", async () => {
    const provider = new BubblewrapProvider();
    const handle = await provider.create(parseSandboxSpec({}));
    try {
      await expect(provider.exec(handle, "ls /host", { env: { A: `1${injection}` } })).rejects.toThrow(
        /zero/,
      );
      await expect(provider.exec(handle, "ls /host", { cwd: `/tmp${injection}` })).rejects.toThrow(/zero/);
    } finally {
      await provider.close(handle);
    }
  });

  it("hides the keys of the user", async () => {
    const { stdout, stderr } = await python(
      await start(),
      `
print(call(250, 219, 0, -3, 0))                      # KEYCTL_GET_KEYRING_ID, the session's keyring
print(call(250, 219, 11, -3, None, 0))               # KEYCTL_READ
print(call(248, 217, b"user", b"gym", b"x", 1, -3))  # add_key
print(call(249, 218, b"user", b"gym", None, 0))      # request_key
print(attempt(lambda: open("/proc/keys").read()) in ("", "EACCES"))`,
    );
    expect([stdout, stderr]).toEqual(["EPERM\nEPERM\nEPERM\nEPERM\nTrue\n", ""]);
  });

  it("prevents commands from moving the directories above read-only paths", async () => {
    const shown = path.join(directory, "shown", "deep", "data");
    mkdirSync(shown, { recursive: true });
    writeFileSync(path.join(shown, "a.txt"), "shown");
    const victim = path.join(directory, "victim");
    mkdirSync(victim, { mode: 0o777 });
    execFileSync("chmod", ["777", victim]);
    for (const place of [path.join(directory, "shown", "deep"), path.join(directory, "shown"), directory]) {
      const sandbox = await start({}, { read_only_paths: [shown] });
      const moved = await sandbox.exec(
        `mv ${place} ${place}-2 && ln -s ../../../../../../oldroot${victim} ${place}`,
      );
      expect(moved.stderr).toContain("busy");
      // Bubblewrap creates missing directories before the next command: in the sandbox, not on the machine.
      await expect(sandbox.exec(`cat ${shown}/a.txt`)).resolves.toMatchObject({ stdout: "shown" });
      expect(readdirSync(victim)).toEqual([]);
    }
    const sandbox = await start({}, { read_only_paths: [shown] });
    await expect(sandbox.exec(`rm -rf ${directory}; echo x > ${shown}/a.txt`)).resolves.toMatchObject({
      return_code: 2,
    });
    expect(readFileSync(path.join(shown, "a.txt"), "utf8")).toBe("shown");
  });

  it("does not follow a link in the work directory of an image", async () => {
    const image = path.join(directory, "image");
    const victim = path.join(directory, "image-victim");
    mkdirSync(path.join(image, "testbed"), { recursive: true });
    mkdirSync(victim);
    execFileSync("chmod", ["777", victim]);
    symlinkSync(victim, path.join(image, "testbed", "link"));
    await expect(start({ image, workdir: "/testbed/link/made" })).rejects.toThrow(/leads through a link/);
    expect(readdirSync(victim)).toEqual([]);
  });

  it("shows no file, variable or process of the machine", async () => {
    writeFileSync(path.join(directory, "secret.txt"), "host-secret");
    process.env["GYM_ATTACK_SECRET"] = "host-secret";
    const sandbox = await start();
    const { stdout } = await sandbox.exec(
      `cat ${directory}/secret.txt /proc/*/root${directory}/secret.txt /proc/*/cwd/secret.txt /proc/[0-9]*/environ \
        /etc/shadow /etc/sudoers /root/.ssh/* /home/*/.ssh/* /var/run/docker.sock; ls /oldroot /newroot /nemo-gym-sandbox; \
       find / -xdev -name '*secret*' -size -2; env; ls -l /proc/self/fd | grep -v ' /proc/'`,
    );
    delete process.env["GYM_ATTACK_SECRET"];
    expect(stdout).not.toMatch(/host-secret|root:\$|PRIVATE|GYM_ATTACK/);
    // Only the standard streams, and none of our variables even in the first process.
    const first = await sandbox.exec(
      "tr '\\0' '\\n' < /proc/1/environ; find /proc/self/fd -type l -printf '%l\\n' | grep -vE '^(/dev/null|/proc/.*|pipe:.*|socket:.*|/workspace)$'; ls /proc | grep -c '^[0-9]'",
    );
    expect(first.stdout).toMatch(/^[3-6]\n$/);
  });

  it("reaches no network, no socket of the machine and no hypervisor", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    const abstract = createServer().listen("\0nemo-gym-attack");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    try {
      const { stdout, stderr } = await python(
        await start(),
        `
def reach(family, address):
    with socket.socket(family) as s:
        s.settimeout(3)
        s.connect(address)
        return "reached"
print(attempt(lambda: reach(socket.AF_INET, ("127.0.0.1", ${port}))))
print(attempt(lambda: reach(socket.AF_INET, ("169.254.169.254", 80))))
print(attempt(lambda: reach(socket.AF_INET, ("1.1.1.1", 53))))
print(attempt(lambda: reach(socket.AF_INET6, ("2606:4700:4700::1111", 53))))
print(attempt(lambda: reach(socket.AF_UNIX, "\\0nemo-gym-attack")))
print(attempt(lambda: reach(socket.AF_UNIX, "/var/run/docker.sock")))
for family in (40, 17, 38, 29):  # vsock, packet, alg, can
    print(attempt(lambda: socket.socket(family, socket.SOCK_STREAM)))`,
      );
      expect(stderr).toBe("");
      const answers = stdout?.trim().split("\n") ?? [];
      expect(answers).toHaveLength(10);
      for (const answer of answers.slice(0, 6))
        expect(answer).toMatch(/^E(CONNREFUSED|NETUNREACH|NOENT|ADDRNOTAVAIL)$/);
      expect(answers.slice(6)).toEqual(Array(4).fill("EAFNOSUPPORT"));
    } finally {
      server.close();
      abstract.close();
    }
  });

  it("cannot trace, signal or read other processes", async () => {
    const sandbox = await start();
    const { stdout } = await python(
      sandbox,
      `
print(call(101, 117, 16, 1, 0, 0))       # PTRACE_ATTACH to the first process
print(call(310, 270, ${process.pid}, None, 0, None, 0, 0))
print(attempt(lambda: os.kill(${process.pid}, 9)))
# The first process is reachable through its memory: it must be filtered as well.
print([line.split()[1] for line in open("/proc/1/status") if line.startswith("Seccomp:")])
import signal
sys.stdout.flush()  # the signal may end the shell above, and with it everything
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(attempt(lambda: os.kill(-1, signal.SIGTERM)))
print(attempt(lambda: os.killpg(0, 0)))`,
    );
    expect(stdout?.split("\n").slice(0, 4)).toEqual(["EPERM", "EPERM", "ESRCH", "['2']"]);
    await expect(sandbox.exec("kill -9 -1; kill -9 1 $PPID; echo alive")).resolves.toMatchObject({
      error_type: null,
    });
    await expect(sandbox.exec("echo fine")).resolves.toMatchObject({ stdout: "fine\n" });
  });

  it("gains no rights: set-user-ID files, devices, namespaces, mounts, modules, the clock", async () => {
    const sandbox = await start();
    const { stdout } = await python(
      sandbox,
      `
import shutil, subprocess
shutil.copy("/usr/bin/id", "id")
os.chmod("id", 0o6755)
print(subprocess.run(["./id", "-u"], capture_output=True, text=True).stdout.strip())
print(attempt(lambda: os.mknod("disk", 0o660 | 0o060000, os.makedev(8, 0))))
print(attempt(lambda: os.mknod("memory", 0o660 | 0o020000, os.makedev(1, 1))))
print(call(272, 97, 0x10000000))                     # unshare(CLONE_NEWUSER)
print(call(56, 220, 0x10000000 | 17, 0, 0, 0, 0))    # clone(CLONE_NEWUSER)
print(call(165, 40, b"none", b"/tmp", b"tmpfs", 0, None))
print(call(155, 41, b"/", b"/"))
print(call(161, 51, b"/tmp"))
print(call(304, 265, -100, None, 0))                 # open_by_handle_at
print(call(321, 280, 0, None, 0))                    # bpf
print(call(175, 105, None, 0, None))                 # init_module
print(call(227, 112, 0, None))                       # clock_settime
print(call(169, 142, 0, 0, 0, None))                 # reboot
print(call(425, 425, 1, None))                       # io_uring_setup
print(sorted(name for name in os.listdir("/dev")))`,
    );
    const lines = stdout?.trim().split("\n") ?? [];
    expect(lines[0]).toBe("1000");
    expect(lines.slice(1, 13)).toEqual(Array(12).fill("EPERM"));
    expect(lines[13]).toBe("ENOSYS");
    expect(lines[14]).not.toMatch(/sd[a-z]|vd[a-z]|mem|kmsg|kvm|fuse|vsock/);
    const { stdout: status } = await sandbox.exec(
      "grep -E 'CapEff|CapBnd|NoNewPrivs|Seccomp:' /proc/self/status",
      { user: "root" },
    );
    expect(status).toBe(
      "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n",
    );
  });

  it("changes nothing of the machine through links and paths, in either direction", async () => {
    const sandbox = await start({ workdir: "/work" });
    const secret = path.join(directory, "outside.txt");
    writeFileSync(secret, "outside");
    await sandbox.exec(
      `ln -s ${secret} link; ln -s / root; ln -s ${directory} dir; ln -s /proc/1/root${secret} proc; mkfifo pipe; mkdir folder; ln -s loop loop`,
    );
    const target = path.join(directory, "target.txt");
    for (const name of ["link", "root", "dir/outside.txt", "proc", "folder", "loop", `../../..${secret}`])
      await expect(sandbox.download(`/work/${name}`, target), name).rejects.toThrow(/could not be read/);
    expect(existsSync(target)).toBe(false);
    // The write happens inside, where the target of the link does not exist.
    await sandbox.writeText("/work/link", "changed").catch(() => undefined);
    await sandbox.writeText(`/work/../../..${secret}`, "changed");
    await sandbox.writeText("/work/dir/planted.txt", "planted").catch(() => undefined);
    expect(readFileSync(secret, "utf8")).toBe("outside");
    expect(existsSync(path.join(directory, "planted.txt"))).toBe(false);
    // A file of the sandbox never becomes a link on the machine.
    await sandbox.exec("rm link; echo plain > link");
    await sandbox.download("/work/link", target);
    expect(lstatSync(target).isFile()).toBe(true);
    await expect(
      sandbox.exec("rm -rf /usr/bin /etc /proc/1 /dev /lib 2>/dev/null; echo x > /usr/x"),
    ).resolves.toMatchObject({
      error_type: null,
    });
    expect(existsSync("/usr/x")).toBe(false);
    expect(existsSync("/usr/bin/env")).toBe(true);
  });

  it("has no access to a terminal", async () => {
    const { stdout } = await python(
      await start(),
      `
import fcntl
print(attempt(lambda: open("/dev/tty")))
print(attempt(lambda: fcntl.ioctl(0, 0x5412, b"x")))`,
    );
    expect(stdout).toBe("ENXIO\nEPERM\n");
    expect(processes()).not.toContain("nemo-gym-attack-typed");
  });
});
