import { describe, expect, it } from "vitest";
import { attacker, processes, python, skip } from "./attacker.ts";

const MIB = 1024 * 1024;

describe.skipIf(skip)("resources of the machine", () => {
  const { start } = attacker();

  it("limits processes: a limit of 200 allows 200", async () => {
    const sandbox = await start({}, { limits: { processes: 200 } });
    const { stdout } = await python(
      sandbox,
      `
count = 1
try:
    while count < 1000:
        if os.fork() == 0:
            time.sleep(20)
            os._exit(0)
        count += 1
except OSError as error:
    print(count, errno.errorcode[error.errno])`,
    );
    const [count, reason] = (stdout ?? "").trim().split(" ");
    expect(Number(count)).toBeGreaterThan(180);
    expect(Number(count)).toBeLessThanOrEqual(200);
    expect(reason).toBe("EAGAIN");
    await sandbox.exec("bomb() { bomb | bomb & }; bomb; sleep 1", { timeoutSeconds: 5 });
    expect(processes()).not.toContain("bomb() {");
    await expect(sandbox.exec("echo fine")).resolves.toMatchObject({ stdout: "fine\n" });
  });

  it("runs the documented number of concurrent commands in one sandbox", async () => {
    const sandbox = await start();
    const results = await Promise.all(
      Array.from({ length: 32 }, (_, index) => sandbox.exec(`sleep 1; echo ${index}`)),
    );
    expect(results.map(({ stdout }) => stdout)).toEqual(results.map((_, index) => `${index}\n`));
  });

  it("limits memory of every kind", async () => {
    const sandbox = await start({ resources: { memory_mib: 128 } }, { limits: { open_files: 4096 } });
    const exceeded = { error_type: "memory", return_code: 137 };
    // Many processes, each below the limit.
    await expect(
      python(
        sandbox,
        `
for _ in range(8):
    if os.fork() == 0:
        held = b"x" * (40 << 20)
        time.sleep(20)
        os._exit(0)
time.sleep(20)`,
      ),
    ).resolves.toMatchObject(exceeded);
    // Shared mappings, which RLIMIT_DATA does not count.
    await expect(
      python(
        sandbox,
        `
import mmap
held = mmap.mmap(-1, 400 << 20)
for _ in range(400):
    held.write(b"x" * (1 << 20))
time.sleep(20)`,
      ),
    ).resolves.toMatchObject(exceeded);
    // Queues of sockets, which belong to no process.
    await expect(
      python(
        sandbox,
        `
held = []
for _ in range(1500):
    pair = socket.socketpair()
    for end in pair:
        end.setblocking(False)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        try:
            while True:
                end.send(b"x" * 65536)
        except BlockingIOError:
            pass
    held.append(pair)
time.sleep(20)`,
      ),
    ).resolves.toMatchObject(exceeded);
    // Page tables of an empty mapping.
    await expect(
      python(
        sandbox,
        `
import mmap
size = 1 << 38
held = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | 0x4000, prot=mmap.PROT_READ)
for at in range(0, size, 2 << 20):
    held[at]
time.sleep(20)`,
      ),
    ).resolves.toMatchObject(exceeded);
    await expect(sandbox.exec("echo fine")).resolves.toMatchObject({ stdout: "fine\n" });
  });

  it("keeps the queues of sockets small, regardless of the limits of the machine", async () => {
    const { stdout } = await python(
      await start(),
      `
end, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
size = end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 22)
print(end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) == size)`,
    );
    expect(stdout).toBe("True\n");
  });

  it("provides no memory outside of processes", async () => {
    const { stdout, stderr } = await python(
      await start(),
      `
print(call(29, 194, 0, 1 << 30, 0o1600))    # shmget
print(call(64, 190, 0, 1000, 0o1600))       # semget
print(call(68, 186, 0, 0o1600))             # msgget
print(call(319, 279, b"x", 0))              # memfd_create
print(call(447, 447, 0))                    # memfd_secret
print(call(240, 180, b"queue", 0o102, 0o600, None))`,
    );
    expect([stdout, stderr]).toEqual(["EPERM\nEPERM\nEPERM\nENOSYS\nENOSYS\nEPERM\n", ""]);
  });

  it("limits the size and number of files in every writable directory", async () => {
    const sandbox = await start({}, { limits: { disk_mib: 8, files: 500 } });
    const { stdout } = await python(
      sandbox,
      `
def fill(directory):
    os.makedirs(directory, exist_ok=True)
    count = 0
    try:
        while count < 5000:
            os.mkdir(f"{directory}/{count}")
            count += 1
    except OSError as error:
        print(directory, count, errno.errorcode[error.errno])
    for name in range(count):
        os.rmdir(f"{directory}/{name}")
for directory in ("/workspace", "/tmp", "/dev/shm", "/var/tmp", "/made"):
    fill(directory)
total = 0
for directory in ("/workspace", "/tmp", "/dev/shm"):
    try:
        with open(f"{directory}/large", "wb") as file:
            for _ in range(64):
                file.write(b"x" * (1 << 20))
                file.flush()
                total += 1
    except OSError as error:
        print(directory, errno.errorcode[error.errno])
print(total)`,
    );
    const lines = stdout?.trim().split("\n") ?? [];
    expect(lines).toHaveLength(9);
    for (const line of lines.slice(0, 5)) expect(line).toMatch(/ [34]\d\d ENOSPC$/);
    for (const line of lines.slice(5, 8)) expect(line).toMatch(/ (ENOSPC|EFBIG)$/);
    expect(Number(lines[8])).toBeLessThanOrEqual(8);
    // A full sandbox still runs commands.
    await expect(sandbox.exec("echo fine")).resolves.toMatchObject({ stdout: "fine\n", error_type: null });
  });

  it("restricts a sandbox to its cores", async () => {
    const { stdout } = await python(
      await start({ resources: { cpu: 1 } }),
      `
print(attempt(lambda: os.sched_setaffinity(0, range(os.cpu_count()))))
print(len(os.sched_getaffinity(0)))`,
    );
    expect(stdout).toMatch(/^(EPERM\n1|None\n1)\n$/);
  });

  it("discards 1 GB of output on both streams", async () => {
    const sandbox = await start();
    const before = process.memoryUsage().rss;
    const result = await sandbox.exec(
      "head -c 536870912 /dev/zero; head -c 536870912 /dev/zero >&2; exit 4",
      {
        timeoutSeconds: 60,
      },
    );
    expect(result).toMatchObject({ return_code: 4, error_type: null, output_truncated: true });
    expect(result.stdout).toHaveLength(10 * MIB);
    expect(result.stderr).toHaveLength(10 * MIB);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MIB);
  });

  it("kills processes that ignore signals, detach themselves or exceed their time", async () => {
    const sandbox = await start();
    const result = await sandbox.exec(
      `trap '' TERM INT HUP; (setsid sh -c 'trap "" TERM; sleep 86399' > /dev/null 2>&1 &)
       (setsid nohup sh -c 'sleep 3; touch /tmp/after-the-limit; sleep 86399' > /dev/null 2>&1 &); while :; do :; done`,
      { timeoutSeconds: 1 },
    );
    expect(result).toMatchObject({ error_type: "timeout", return_code: 125 });
    expect(processes()).not.toContain("sleep 86399");
    // A daemon ends with its command, even if it keeps the output open.
    await sandbox.exec("setsid sleep 86398 & setsid sleep 86398 > /dev/null 2>&1 &", { timeoutSeconds: 20 });
    expect(processes()).not.toContain("sleep 86398");
    await new Promise((resolve) => setTimeout(resolve, 2500));
    await expect(sandbox.exec("ls /tmp")).resolves.toMatchObject({ stdout: "" });
  });

  it("rejects invalid time limits", async () => {
    const sandbox = await start();
    for (const timeoutSeconds of [Number.POSITIVE_INFINITY, Number.NaN, 0, -1])
      await expect(sandbox.exec("true", { timeoutSeconds })).rejects.toMatchObject({ code: "SANDBOX_SPEC" });
    await expect(sandbox.exec("echo fine", { timeoutSeconds: 1e30 })).resolves.toMatchObject({
      stdout: "fine\n",
    });
  });
});
