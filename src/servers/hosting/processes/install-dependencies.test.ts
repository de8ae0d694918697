import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { HostedInstance } from "../cohost.ts";
import { installNodeDependencies, pythonEnvironment } from "./install-dependencies.ts";

const WHEEL = "tiny_gym_test-1.0-py3-none-any.whl";
/** Writes a wheel with one module, so that the test needs no package index. */
const MAKE_WHEEL = `
import sys, zipfile
info = "tiny_gym_test-1.0.dist-info"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    wheel.writestr("tiny_gym_test.py", "ANSWER = 42\\n")
    wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: tiny-gym-test\\nVersion: 1.0\\n")
    wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "/RECORD", "tiny_gym_test.py,,\\n" + info + "/METADATA,,\\n" + info + "/WHEEL,,\\n" + info + "/RECORD,,\\n")
`;

const canMakeEnvironments = succeeds("python3", ["-c", "import ensurepip, venv"]);
const uv = firstOnPath("uv");

let root: string;
let directory: string;
const said: string[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nemo-gym-python-"));
  directory = join(root, "resources_servers", "mine");
  mkdirSync(directory, { recursive: true });
  said.length = 0;
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(root, { recursive: true, force: true });
});

const environment = (globalConfig: Record<string, unknown> = {}, config: Record<string, unknown> = {}) =>
  pythonEnvironment(
    {
      name: "mine",
      type: "resources_servers",
      implementation: "mine",
      config,
      code: { directory },
    } as unknown as HostedInstance,
    { globalConfig, installRoot: "/opt/gym", log: (line) => said.push(line) },
  );
const write = (name: string, text = "") => writeFileSync(join(directory, name), text);
const python = () => join(directory, ".venv", "bin", "python");
const makeWheel = () => execFileSync("python3", ["-c", MAKE_WHEEL, join(directory, WHEEL)]);
const answerOf = (interpreter: string) =>
  execFileSync(interpreter, ["-c", "import tiny_gym_test; print(tiny_gym_test.ANSWER)"], {
    encoding: "utf8",
  }).trim();

/** PATH contains only the named programs, so that a test controls whether uv exists. */
function allowOnly(...programs: [name: string, file: string | undefined][]): void {
  const bin = join(root, "bin");
  mkdirSync(bin);
  for (const [name, file] of programs) if (file !== undefined) symlinkSync(file, join(bin, name));
  vi.stubEnv("PATH", bin);
}

describe.skipIf(!canMakeEnvironments)("an environment made by venv and pip", () => {
  beforeEach(() => {
    makeWheel();
    const real = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
      encoding: "utf8",
    }).trim();
    allowOnly(["python3", real]);
  });

  it("installs requirements.txt once", async () => {
    write("requirements.txt", `# ours\n./${WHEEL} # local\n`);
    expect(await environment()).toBe(python());
    expect(answerOf(python())).toBe("42");
    expect(said).toHaveLength(1);
    await environment();
    expect(said).toHaveLength(1);
    expect(existsSync(join(directory, ".nemo-gym-requirements.txt"))).toBe(false);
  });

  it("is removed after a failed installation", async () => {
    write("requirements.txt", "./no-such-1.0-py3-none-any.whl\n");
    await expect(environment()).rejects.toMatchObject({
      code: "SERVER_INSTALL",
      message: expect.stringContaining("no-such-1.0"),
    });
    expect(existsSync(join(directory, ".venv"))).toBe(false);
    write("requirements.txt", `./${WHEEL}\n`);
    expect(answerOf(await environment({ skip_venv_if_present: true }))).toBe("42");
  });

  it("is in uv_venv_dir, even if the requested Python version is missing", async () => {
    write("requirements.txt", `./${WHEEL}\n`);
    const elsewhere = join(root, "venvs");
    const at = join(elsewhere, "resources_servers", "mine", ".venv", "bin", "python");
    expect(await environment({ uv_venv_dir: elsewhere, python_version: "3.99.1" })).toBe(at);
    expect(said.join("\n")).toContain("neither python3.99 nor uv on PATH");
  });
});

describe.skipIf(!canMakeEnvironments || uv === undefined)("an environment made by uv", () => {
  it("installs requirements.txt", async () => {
    makeWheel();
    const real = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], {
      encoding: "utf8",
    }).trim();
    allowOnly(["python3", real], ["uv", uv]);
    write("requirements.txt", `./${WHEEL}\n`);
    expect(answerOf(await environment())).toBe("42");
  });
});

describe("without an installation", () => {
  it("uses the system Python without requirements", async () => {
    expect(await environment()).toBe("python3");
    write("requirements.txt", "# nothing\n\n");
    expect(await environment()).toBe("python3");
    expect(await environment({}, { python_executable: "/opt/python" })).toBe("/opt/python");
  });

  it("uses an existing environment if configured", async () => {
    write("requirements.txt", "numpy\n");
    mkdirSync(dirname(python()), { recursive: true });
    writeFileSync(python(), "");
    writeFileSync(join(dirname(python()), "activate"), "");
    for (const uv_venv_dir of [undefined, "/opt/gym", process.cwd()]) {
      expect(await environment({ skip_venv_if_present: true, uv_venv_dir })).toBe(python());
    }
    expect(said).toEqual([]);
  });

  it("rejects a folder with two lists of packages", async () => {
    write("requirements.txt", "numpy\n");
    write("pyproject.toml");
    await expect(environment()).rejects.toThrow(/has both pyproject.toml and requirements.txt/);
    expect(readFileSync(join(directory, "requirements.txt"), "utf8")).toBe("numpy\n");
  });
});

function succeeds(program: string, words: string[]): boolean {
  try {
    execFileSync(program, words, { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function firstOnPath(program: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.map((folder) => join(folder, program)).find((file) => existsSync(file));
}

it("tells about packages of Node only when it installs them", async () => {
  writeFileSync(join(root, "package.json"), `{"dependencies": {"tiny": "file:./tiny"}}`);
  mkdirSync(join(root, "tiny"));
  writeFileSync(join(root, "tiny/package.json"), `{"name": "tiny", "version": "1.0.0"}`);
  const told: string[] = [];
  for (let start = 0; start < 2; start++)
    await installNodeDependencies("kiln", root, undefined, () => told.push("installing"));
  expect(told).toEqual(["installing"]);
});
