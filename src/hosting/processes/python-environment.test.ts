import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { HostedInstance } from "../cohost.ts";
import { pythonEnvironment } from "./python-environment.ts";

/** Makes a virtual environment whose interpreter notes down what it is asked, or fails. */
const PYTHON = `#!/bin/sh
mkdir -p "$3/bin"
touch "$3/bin/activate"
cat > "$3/bin/python" <<'END'
#!/bin/sh
echo "$@" >> "$(dirname "$0")/asked"
cat >> "$(dirname "$0")/asked"
if [ -e fail ]; then echo "No matching distribution" >&2; exit 1; fi
END
chmod +x "$3/bin/python"
`;

let root: string;
let directory: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "nemo-gym-python-"));
  directory = join(root, "resources_servers", "mine");
  mkdirSync(directory, { recursive: true });
  mkdirSync(join(root, "bin"));
  writeFileSync(join(root, "bin", "python3"), PYTHON);
  chmodSync(join(root, "bin", "python3"), 0o755);
  vi.stubEnv("PATH", `${join(root, "bin")}:${process.env["PATH"]}`);
  vi.spyOn(console, "log").mockImplementation(() => {});
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
  rmSync(root, { recursive: true, force: true });
});

const install = (globalConfig: Record<string, unknown> = {}, config: Record<string, unknown> = {}) =>
  pythonEnvironment(
    {
      name: "mine",
      type: "resources_servers",
      implementation: "mine",
      config,
      code: { directory },
    } as unknown as HostedInstance,
    globalConfig,
  );
const write = (name: string, text = "") => writeFileSync(join(directory, name), text);
const python = () => join(directory, ".venv", "bin", "python");
const asked = () => readFileSync(join(directory, ".venv", "bin", "asked"), "utf8");

it("installs what requirements.txt asks for, once, and the published gym where the relative path leads nowhere", async () => {
  write("requirements.txt", "# ours\n-e nemo-gym[dev] @ ../../\nnumpy>=2 # fast\n");
  expect(await install()).toBe(python());
  expect(asked()).toBe("-m pip install -q -r /dev/stdin\nnemo-gym\nnumpy>=2\n");
  await install();
  expect(asked()).toBe("-m pip install -q -r /dev/stdin\nnemo-gym\nnumpy>=2\n");
  write("requirements.txt", "scipy\n");
  await install({ pip_install_verbose: true });
  expect(asked()).toContain("-m pip install -v -r /dev/stdin\nscipy\n");
});

it("takes the gym beside it where there is a checkout", async () => {
  writeFileSync(join(root, "pyproject.toml"), "");
  write("requirements.txt", "-e nemo-gym[dev] @ ../../\n");
  await install();
  expect(asked()).toContain("\n-e nemo-gym[dev] @ ../../\n");
});

it("installs a folder with a pyproject.toml", async () => {
  write("pyproject.toml", "[project]\n");
  await install();
  expect(asked()).toContain("-m pip install -q nemo-gym -e .\n");
});

it("needs nothing where nothing is asked for", async () => {
  expect(await install()).toBe("python3");
  write("requirements.txt", "# nothing\n\n");
  expect(await install()).toBe("python3");
  expect(await install({}, { python_executable: "/opt/python" })).toBe("/opt/python");
});

it("leaves an environment alone when told to, if it is one", async () => {
  write("requirements.txt", "numpy\n");
  mkdirSync(join(directory, ".venv", "bin"), { recursive: true });
  writeFileSync(python(), "");
  writeFileSync(join(directory, ".venv", "bin", "activate"), "");
  expect(await install({ skip_venv_if_present: true })).toBe(python());
  expect(existsSync(join(directory, ".venv", "bin", "asked"))).toBe(false);
  rmSync(join(directory, ".venv", "bin", "activate"));
  await install({ skip_venv_if_present: true });
  expect(asked()).toContain("numpy");
});

it("puts environments where uv_venv_dir says", async () => {
  write("requirements.txt", "numpy\n");
  const elsewhere = join(root, "venvs");
  expect(await install({ uv_venv_dir: elsewhere })).toBe(
    join(elsewhere, "resources_servers", "mine", ".venv", "bin", "python"),
  );
});

it("says what the installer says, and refuses two lists", async () => {
  write("requirements.txt", "numpy\n");
  write("fail");
  await expect(install()).rejects.toMatchObject({
    code: "SERVER_INSTALL",
    message: "The Python packages of 'mine' cannot be installed: No matching distribution",
  });
  write("pyproject.toml");
  await expect(install()).rejects.toThrow(/has both pyproject.toml and requirements.txt/);
});
