import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { checkProvider, findSandboxes } from "./create-provider.ts";
import { newSandboxName, ownerState } from "./owner.ts";
import type { SandboxProvider } from "./provider.ts";
import { ApptainerProvider } from "./providers/apptainer.ts";
import { DockerProvider } from "./providers/docker.ts";
import { EnrootProvider } from "./providers/enroot.ts";
import { Sandbox } from "./sandbox.ts";
import { parseSandboxSpec, type SandboxSpecInput } from "./spec.ts";

const program = fileURLToPath(new URL("testdata/fake-container-program.sh", import.meta.url));
const attribution = { run: "r1" };

let directory: string;
let work: string;
const { PATH } = process.env;
const started: Sandbox[] = [];

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), "nemo-gym-test-"));
  work = path.join(directory, "work dir");
  mkdirSync(path.join(directory, "bin"));
  mkdirSync(work);
  for (const name of ["docker", "apptainer", "enroot"])
    symlinkSync(program, path.join(directory, "bin", name));
  process.env["PATH"] = `${directory}/bin:${PATH}`;
  process.env["FAKE_STATE"] = directory;
});
afterEach(async () => {
  await Promise.all(started.splice(0).map((sandbox) => sandbox.stop()));
  process.env["PATH"] = PATH;
  delete process.env["FAKE_STATE"];
  delete process.env["TMPDIR"];
  rmSync(directory, { recursive: true, force: true });
});

/** Every call of a container program, in order. */
function calls(): string[][] {
  const records = readFileSync(path.join(directory, "calls"), "utf8").split("\u001e");
  return records.slice(0, -1).map((record) => record.split("\0").slice(0, -1));
}

async function start(provider: SandboxProvider, spec: SandboxSpecInput): Promise<Sandbox> {
  const sandbox = new Sandbox(provider, spec, { attribution });
  started.push(sandbox);
  return sandbox.start();
}

const enroot = (settings: object = {}) =>
  new EnrootProvider({
    ...settings,
    create: { base_dir: path.join(directory, "enroot"), start_poll_s: 0.05, ...settings },
  });

const KINDS: [string, () => SandboxProvider, string][] = [
  ["docker", () => new DockerProvider(), "python:3.12"],
  ["apptainer", () => new ApptainerProvider(), "python:3.12"],
  ["enroot", () => enroot(), "registry.example:5000/team/python:3.12"],
];

describe.each(KINDS)("%s sandboxes", (_, makeProvider, image) => {
  it("run commands with the variables of the spec", async () => {
    const sandbox = await start(makeProvider(), { image, workdir: work, env: { A: "1", B: "b=c $X, y" } });
    const result = await sandbox.exec('pwd; echo "$A|$B|$C"; echo oops >&2; exit 3', {
      env: { A: "9", C: "it's" },
    });
    expect(result).toEqual({
      stdout: `${work}\n9|b=c $X, y|it's\n`,
      stderr: "oops\n",
      return_code: 3,
      error_type: null,
    });
    await expect(sandbox.exec("pwd", { cwd: directory })).resolves.toMatchObject({
      stdout: `${directory}\n`,
    });
    await expect(sandbox.exec("wc -c", { stdin: "hello" })).resolves.toMatchObject({ stdout: "5\n" });
  });

  it("copy files in and out", async () => {
    const target = path.join(work, "deep", "-odd 'name'.txt");
    const sandbox = await start(makeProvider(), { image, files: { [target]: "héllo" } });
    expect(readFileSync(target, "utf8")).toBe("héllo");
    await sandbox.download(target, path.join(directory, "new", "out.txt"));
    expect(readFileSync(path.join(directory, "new", "out.txt"), "utf8")).toBe("héllo");
    await expect(sandbox.download("/nowhere", path.join(directory, "no"))).rejects.toMatchObject({
      code: "SANDBOX_TRANSFER",
    });
    expect(existsSync(path.join(directory, "no"))).toBe(false);
  });

  it("kill the processes of a command at its time limit", async () => {
    const sandbox = await start(makeProvider(), { image });
    const pid = path.join(directory, "pid");
    const command = `echo begun; setsid sh -c 'echo $$ > ${pid}; sleep 3210' & sleep 3210`;
    const result = await sandbox.exec(command, { timeoutSeconds: 1 });
    expect(result).toMatchObject({ stdout: "begun\n", return_code: 125, error_type: "timeout" });
    expect(isAlive(Number(readFileSync(pid, "utf8")))).toBe(false);
    expect(execFileSync("ps", ["ax"], { encoding: "utf8" })).not.toContain("sleep 3210");
  });

  it("kill a command when the signal fires", async () => {
    const sandbox = await start(makeProvider(), { image });
    const controller = new AbortController();
    const running = sandbox.exec("sleep 2109", { signal: controller.signal });
    setTimeout(() => controller.abort(new Error("given up")), 400);
    await expect(running).rejects.toThrow("given up");
    expect(execFileSync("ps", ["ax"], { encoding: "utf8" })).not.toContain("sleep 2109");
  });

  it("distinguish a missing sandbox from a command that prints such an error", async () => {
    const sandbox = await start(makeProvider(), { image });
    const words = "Error response from daemon: No such container; FATAL: no instance found; [ERROR] nsenter";
    const liar = await sandbox.exec(`echo '${words}' >&2; exit 1`);
    expect(liar).toMatchObject({ return_code: 1, error_type: null });
    await expect(sandbox.status()).resolves.toBe("running");
    await killContainer(sandbox.id ?? "");
    await expect(sandbox.exec("true")).resolves.toMatchObject({ return_code: 125, error_type: "sandbox" });
    await expect(sandbox.status()).resolves.toBe("stopped");
    await sandbox.stop();
    await sandbox.stop();
  });

  it("require an image and valid names of variables", async () => {
    await expect(start(makeProvider(), {})).rejects.toThrow(/needs an 'image'/);
    await expect(start(makeProvider(), { image, env: { "A B": "1" } })).rejects.toThrow(/'A B'/);
  });

  it("report how to install a missing program", async () => {
    process.env["PATH"] = path.join(directory, "empty");
    process.env["TMPDIR"] = work;
    await expect(start(makeProvider(), { image })).rejects.toMatchObject({
      code: "SANDBOX_PROVIDER_UNAVAILABLE",
    });
    expect(readdirSync(work)).toEqual([]);
  });
});

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

async function killContainer(name: string): Promise<void> {
  const pid = Number(readFileSync(path.join(directory, `${name}.pid`), "utf8"));
  process.kill(-pid, "SIGKILL");
  while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("docker", () => {
  it("starts a waiting container with limits and without a network", async () => {
    const provider = new DockerProvider({
      create: { cap_drop: ["ALL"], extra_run_args: ["--shm-size", "1g"] },
    });
    const spec = {
      image: "docker://python:3.12",
      workdir: work,
      env: { A: "1" },
      metadata: { task: "t1" },
      resources: { cpu: 1.5, memory_mib: 256 },
      provider_options: { volumes: "/data:/data:ro", run_args: ["--cgroupns", "private"] },
    };
    // The fake program does not know the last two options, so the start fails.
    await expect(start(provider, spec)).rejects.toMatchObject({ code: "SANDBOX_CREATE" });
    const [, ...words] = calls().find(([, verb]) => verb === "run") ?? [];
    const name = words[words.indexOf("--name") + 1] ?? "";
    expect(name).toMatch(/^nemo-gym-[0-9a-f]{8}-\d+-\w+-[0-9a-f]{16}$/);
    expect(words).toEqual([
      ...[
        "run",
        "-d",
        "--name",
        name,
        "--label",
        "nemo-gym.sandbox=1",
        "--label",
        "run=r1",
        "--label",
        "task=t1",
      ],
      ...["--init", "-w", work, "--env", "A=1", "--cpus", "1.5", "--memory", "256m", "--memory-swap", "256m"],
      ...["--network", "none", "--cap-drop", "ALL", "--pids-limit", "1024", "-v", "/data:/data:ro"],
      ...["--shm-size", "1g", "--cgroupns", "private"],
      ...["--entrypoint", "/bin/sh", "python:3.12", "-c", "while :; do sleep 2147483647; done"],
    ]);
    expect(calls().at(-1)).toEqual(["docker", "rm", "-f", name]);
  });

  it("uses bash if the image has it", async () => {
    const bash = await start(new DockerProvider(), { image: "python:3.12" });
    await expect(bash.exec("echo ${BASH_VERSION:+bash}")).resolves.toMatchObject({ stdout: "bash\n" });
    const sh = await start(new DockerProvider(), { image: "nobash:1" });
    await expect(sh.exec("echo ${BASH_VERSION:+bash}")).resolves.toMatchObject({ stdout: "\n" });
    const set = await start(new DockerProvider({ exec: { exec_shell: "/bin/dash" } }), {
      image: "python:3.12",
    });
    await set.exec("true", { user: "root" });
    const [call = []] = calls().slice(-1);
    expect(call.slice(-5)).toEqual(["0", set.id, "/bin/dash", "-c", "true"]);
  });

  it("returns the address of declared ports only", async () => {
    const sandbox = await start(new DockerProvider(), { image: "python:3.12", ports: [8080, "9090"] });
    await expect(sandbox.endpoint(8080)).resolves.toEqual({
      endpoint: "http://127.0.0.1:49154",
      headers: {},
    });
    await expect(sandbox.endpoint(80)).rejects.toThrow(/Port 80 is not among the ports.*8080, 9090/);
    const run = calls().find(([, verb]) => verb === "run") ?? [];
    expect(run.join(" ")).toContain("--publish 127.0.0.1::8080/tcp --publish 127.0.0.1::9090/tcp");
    expect(run).not.toContain("--network");
  });

  it("starts a container with a time to live that removes itself", async () => {
    const sandbox = await start(new DockerProvider(), { image: "python:3.12", ttl_s: 1.2 });
    const run = calls().find(([, verb]) => verb === "run") ?? [];
    expect(run.slice(-6)).toEqual(["--rm", "--entrypoint", "/bin/sh", "python:3.12", "-c", "sleep 2"]);
    await expect(sandbox.exec("sleep 2.5; true")).resolves.toMatchObject({ return_code: 0 });
    await expect(sandbox.status()).resolves.toBe("stopped");
  });

  it("lets another process connect by the descriptor", async () => {
    const sandbox = await start(new DockerProvider(), { image: "python:3.12", workdir: work, ports: [8080] });
    const descriptor = JSON.parse(JSON.stringify(sandbox.serialize()));
    const other = await Sandbox.connect(new DockerProvider(), descriptor);
    await expect(other.exec("pwd")).resolves.toMatchObject({ stdout: `${work}\n` });
    await expect(other.endpoint(8080)).resolves.toMatchObject({ endpoint: "http://127.0.0.1:49154" });
    await other.stop();
    await expect(sandbox.status()).resolves.toBe("stopped");
    await expect(Sandbox.connect(new DockerProvider(), descriptor)).rejects.toThrow(/cannot be reached/);
  });

  it("removes a container that does not become ready", async () => {
    await expect(start(new DockerProvider(), { image: "missing:1" })).rejects.toThrow(
      /pull failed .*missing:1/,
    );
    await expect(start(new DockerProvider(), { image: "broken:1" })).rejects.toMatchObject({
      code: "SANDBOX_NOT_READY",
    });
    const provider = new DockerProvider({ probe: { timeout_s: 1 } });
    await expect(start(provider, { image: "broken:1", ready_timeout_s: 0.5 })).rejects.toThrow(
      /within 0.5 s.*cannot exec/,
    );
    const slow = new DockerProvider({ create: { start_timeout_s: 0.5 } });
    await expect(start(slow, { image: "hangs:1" })).rejects.toThrow(/longer than 0.5 s/);
    expect(calls().filter(([, verb]) => verb === "rm")).toHaveLength(3);
  });

  it("runs at most the configured number of commands at a time", async () => {
    const sandbox = await start(new DockerProvider({ exec: { concurrency: 2 } }), { image: "python:3.12" });
    const log = path.join(directory, "log");
    writeFileSync(log, "");
    const command = `echo + >> ${log}; sleep 0.3; echo - >> ${log}`;
    await Promise.all(Array.from({ length: 5 }, () => sandbox.exec(command)));
    let running = 0;
    const most = readFileSync(log, "utf8")
      .trim()
      .split("\n")
      .map((sign) => (running += sign === "+" ? 1 : -1));
    expect(Math.max(...most)).toBe(2);
  });

  it("rejects unknown settings", () => {
    expect(() => new DockerProvider({ create: { netwrk: "none" } })).toThrow(/create: .*'netwrk'/);
    expect(() => new DockerProvider({ create: { publish_host: "example.com" } })).toThrow(/IPv4 or IPv6/);
    expect(() => new DockerProvider({ exec: { concurrency: 0 } })).toThrow(/exec.concurrency/);
  });
});

describe("apptainer", () => {
  it("contains the instance and gives it its own directory", async () => {
    const sandbox = await start(
      new ApptainerProvider({ create: { extra_start_args: ["--containall", "--writable-tmpfs"] } }),
      {
        image: "python:3.12",
        env: { SECRET: "s3cret" },
        resources: { cpu: 2, memory_mib: 512, gpu: 1 },
        provider_options: { binds: ["/data:/data"] },
      },
    );
    const [call = []] = calls();
    const staging = call[call.indexOf("--bind") + 1]?.split(":")[0] ?? "";
    expect(call.slice(1)).toEqual([
      ...["instance", "start", "--no-eval", "--containall", "--net", "--network", "none"],
      ...[
        "--bind",
        `${staging}:/sandbox`,
        "--bind",
        "/data:/data",
        "--cpus",
        "2",
        "--memory",
        "512m",
        "--nv",
      ],
      ...["--writable-tmpfs", "docker://python:3.12", sandbox.id],
    ]);
    expect(existsSync(staging)).toBe(true);
    await sandbox.exec("true", { user: "root", cwd: work });
    expect(calls().at(-1)?.slice(1, 6)).toEqual(["exec", "--no-eval", "--pwd", work, "--fakeroot"]);
    expect(JSON.stringify(calls())).not.toContain("s3cret");
    await sandbox.stop();
    expect(existsSync(staging)).toBe(false);
  });

  it("lets another process of the same user connect", async () => {
    const sandbox = await start(new ApptainerProvider(), { image: "./python.sif", env: { A: "1" } });
    const descriptor = JSON.parse(JSON.stringify(sandbox.serialize()));
    const other = await Sandbox.connect(new ApptainerProvider(), descriptor);
    await expect(other.exec("echo $A")).resolves.toMatchObject({ stdout: "1\n" });
    await expect(Sandbox.connect(new ApptainerProvider(), { ...descriptor, uid: 12345 })).rejects.toThrow(
      /another machine or user/,
    );
  });

  it("reports why an image cannot be started", async () => {
    await expect(start(new ApptainerProvider(), { image: "missing:1" })).rejects.toThrow(
      /could not open image docker:\/\/missing:1/,
    );
  });
});

describe("enroot", () => {
  it("imports an image once and starts it without its entrypoint", async () => {
    const image = "registry.example:5000/team/python:3.12";
    const provider = enroot();
    const [one, two] = await Promise.all([
      start(provider, { image }),
      start(provider, { image, resources: { gpu: 2 } }),
    ]);
    const imports = calls().filter(([, verb]) => verb === "import");
    expect(imports).toHaveLength(1);
    expect(imports[0]?.at(-1)).toBe("docker://registry.example:5000#team/python:3.12");
    const begun = calls().find((call) => call[1] === "start" && call.includes(two.id ?? "")) ?? [];
    expect(begun).toContain("NVIDIA_VISIBLE_DEVICES=0,1");
    expect(begun.slice(2, 4)).toEqual(["--rw", "--rc"]);
    expect(begun.at(-1)).toBe(`while true; do sleep 86400; done # ${two.id}`);
    await one.stop();
    await expect(two.exec("echo still")).resolves.toMatchObject({ stdout: "still\n" });
  });

  it("continues an import for other callers, and stops it when nobody waits", async () => {
    const provider = enroot();
    const imports = () => calls().filter(([, verb]) => verb === "import");
    const importProcess = () => `/proc/${readFileSync(path.join(directory, "import.pid"), "utf8").trim()}`;
    const first = new AbortController();
    const second = new AbortController();
    const create = (image: string, signal: AbortSignal) =>
      provider.create(parseSandboxSpec({ image }), { signal });

    const stopped = expect(create("slow:1", first.signal)).rejects.toBe("first");
    const created = create("slow:1", second.signal);
    await vi.waitFor(() => expect(imports()).toHaveLength(1));
    first.abort("first");
    await stopped;
    writeFileSync(path.join(directory, "go"), "");
    await provider.close(await created);
    expect(imports()).toHaveLength(1);

    rmSync(path.join(directory, "go"));
    const left = expect(create("slow:2", second.signal)).rejects.toBe("second");
    await vi.waitFor(() => expect(imports()).toHaveLength(2));
    expect(existsSync(importProcess())).toBe(true);
    second.abort("second");
    await left;
    await vi.waitFor(() => expect(existsSync(importProcess())).toBe(false));
  });

  it("reports why a container cannot be started", async () => {
    await expect(start(enroot(), { image: "missing:1" })).rejects.toThrow(/could not fetch the image/);
    await expect(start(enroot(), { image: "a:1", env: { FAIL: "1" } })).rejects.toThrow(
      /ended at once: \[ERROR\] no such thing/,
    );
    await expect(start(enroot(), { image: "/nowhere.sqsh" })).rejects.toThrow(/nowhere.sqsh/);
  });
});

describe("leftovers of runs", () => {
  /** The name of a sandbox whose process has ended. */
  const dead = () => newSandboxName().replace(/^(nemo-gym-\w+)-\d+-\w+-/, "$1-4194304-1-");

  it("are distinguished from sandboxes in use and from those of others", async () => {
    expect(ownerState(newSandboxName())).toBe("in use");
    expect(ownerState(dead())).toBe("left behind");
    expect(ownerState(newSandboxName().replace(/^nemo-gym-\w{8}/, "nemo-gym-00000000"))).toBe("elsewhere");
    expect(ownerState("nemo-gym-web-1")).toBeUndefined();
  });

  it.each(["docker", "apptainer"])("are found and removed with %s", async (name) => {
    process.env["TMPDIR"] = directory;
    const provider = name === "docker" ? new DockerProvider() : new ApptainerProvider();
    const sandbox = await start(provider, { image: "python:3.12", workdir: work });
    const left = dead();
    writeFileSync(path.join(directory, `${left}.pid`), "4194304");
    mkdirSync(path.join(directory, `${left}.files`));
    const listed = (await provider.list?.()) ?? [];
    expect(Object.fromEntries(listed.map(({ id, state }) => [id, state]))).toEqual({
      [sandbox.id ?? ""]: "in use",
      [left]: "left behind",
    });
    const found = (await findSandboxes()).filter(({ id, provider: by }) => id === left && by === name);
    expect(found).toHaveLength(1);
    await found[0]?.remove();
    await found[0]?.remove();
    expect(((await provider.list?.()) ?? []).map(({ id }) => id)).toEqual([sandbox.id]);
    expect(existsSync(path.join(directory, `${left}.files`))).toBe(name === "docker");
  });
});

describe("container engines", () => {
  it("pull an image once for all callers and start few containers at a time", async () => {
    const provider = new DockerProvider({ create: { max_creates: 1 } });
    const spec = { image: "remote/python:3.12", workdir: work };
    await Promise.all([start(provider, spec), start(provider, spec), start(provider, spec)]);
    expect(calls().filter(([, verb]) => verb === "pull")).toHaveLength(1);
    await start(provider, spec);
    expect(calls().filter(([, verb]) => verb === "pull")).toHaveLength(1);
    await expect(start(provider, { image: "missing:1" })).rejects.toThrow(
      /pull failed .* manifest .* not found/,
    );
  });

  it("report whether they work, and why not", async () => {
    await expect(checkProvider("docker")).resolves.toEqual({
      provider: "docker",
      works: true,
      detail: "28.0.0",
    });
    await expect(checkProvider("docker", { program: "podman" })).resolves.toMatchObject({
      works: false,
      detail: expect.stringContaining("'podman' is not on the PATH"),
    });
    symlinkSync(path.join(directory, "bin", "docker"), path.join(directory, "bin", "podman"));
    await expect(checkProvider("docker", { program: "podman" })).resolves.toMatchObject({ works: false });
    await expect(checkProvider("openshell")).resolves.toMatchObject({ works: false });
  });
});
