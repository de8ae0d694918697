import { spawnSync } from "node:child_process";
import { cpSync, readdirSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { project } from "./gym-process.ts";

const python = process.env["NEMO_GYM_TEST_PYTHON"] ?? "python3";
const folder = path.resolve(import.meta.dirname, "../python");
const problem = missing();
if (problem !== undefined) console.warn(`The Python package is not tested: ${problem}.`);

it.skipIf(problem !== undefined && process.env["CI"] === undefined)(
  "the Python package for trainers passes its own tests",
  () => {
    expect(problem).toBeUndefined();
    const { status, stderr } = spawnSync(python, ["-m", "unittest"], {
      cwd: folder,
      encoding: "utf8",
      timeout: 540_000,
      maxBuffer: 64 * 1024 * 1024,
    });
    expect(status, stderr.slice(-8_000)).toBe(0);
  },
  550_000,
);

/** The names that trainers import. */
const IMPORTS = [
  "from nemo_gym.cli import GlobalConfigDictParserConfig, RunHelper",
  "from nemo_gym.rollout_collection import RolloutCollectionHelper",
  "from nemo_gym.server_utils import HEAD_SERVER_KEY_NAME, BaseServerConfig, ServerClient",
  "from nemo_gym.trl import GymSpec",
];

it.skipIf(problem !== undefined && process.env["CI"] === undefined)(
  "the Python package builds as a wheel that trainers can import",
  async ({ skip }) => {
    const cwd = await project({});
    // A build creates files in the source folder.
    cpSync(folder, path.join(cwd, "source"), { recursive: true });
    // The wheel is installed without its dependencies; the installed aiohttp is used.
    const where = ["-c", "import aiohttp, os; print(os.path.dirname(os.path.dirname(aiohttp.__file__)))"];
    const PYTHONPATH = spawnSync(python, where, { encoding: "utf8" }).stdout.trim();
    const run = (program: string, ...words: string[]) =>
      spawnSync(program, words, {
        cwd,
        env: { ...process.env, PYTHONPATH },
        encoding: "utf8",
        timeout: 120_000,
      });
    expect(run(python, "-m", "venv", "venv").status).toBe(0);
    const pip = path.join(cwd, "venv/bin/pip");
    const built = run(pip, "wheel", "--retries", "0", "--no-deps", "-w", "wheels", "./source");
    if (/No matching distribution|ConnectionError|Failed to establish/.test(built.stderr))
      skip("pip cannot fetch setuptools here, which builds the wheel");
    expect(built.status, built.stderr).toBe(0);
    const [wheel = "", ...others] = readdirSync(path.join(cwd, "wheels"));
    expect(wheel).toMatch(/^nemo_gym-[\d.]+-py3-none-any\.whl$/);
    expect(others).toEqual([]);
    const installed = run(pip, "install", "--no-deps", path.join(cwd, "wheels", wheel));
    expect(installed.status, installed.stderr).toBe(0);
    const show = "import importlib.resources as r; print(r.files('nemo_gym').joinpath('py.typed').is_file())";
    const imported = run(path.join(cwd, "venv/bin/python"), "-c", [...IMPORTS, show].join("\n"));
    expect(imported.stdout, imported.stderr).toBe("True\n");
  },
  300_000,
);

function missing(): string | undefined {
  const version = spawnSync(python, ["-c", "import sys; print(sys.version_info >= (3, 10))"], {
    encoding: "utf8",
  });
  if (version.status !== 0) return `${python} does not run`;
  if (version.stdout.trim() !== "True") return `${python} is older than 3.10`;
  return spawnSync(python, ["-c", "import aiohttp"]).status === 0
    ? undefined
    : "aiohttp is not installed (pip install aiohttp)";
}
