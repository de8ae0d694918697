import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import definition from "./app.ts";
import { readDockerfile } from "./dockerfile.ts";
import { networkUse } from "./network-use.ts";
import { headline } from "./reward.ts";

const tasks = fileURLToPath(new URL("data/tasks", import.meta.url));

async function attempt(task: string, commands: string[], config: object = {}) {
  const server = await createTestServer(definition, { config: { tasks_dir: tasks, ...config } });
  try {
    const seeded = await server.post("/seed_session", { task });
    const outputs: unknown[] = [];
    for (const command of commands) outputs.push((await server.post("/bash", { command })).body);
    const { status, body } = await server.verify(verifyBody({ task }, messageItem("Done.")));
    return { seeded, outputs, status, body };
  } finally {
    await server.close();
  }
}
/** A directory with one task, `own`. */
async function taskDirectory(files: Record<string, string>): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "nemo-gym-harbor-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const all = { "task.toml": "", "environment/Dockerfile": "FROM x\n", "tests/test.sh": "", ...files };
  for (const [name, text] of Object.entries(all)) {
    const file = path.join(directory, "own", name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  return directory;
}

/** Installs its own tools, as the template of Harbor does. */
const TEMPLATE = `#!/bin/bash

# Installs curl.
apt-get update
apt-get install -y curl
curl -LsSf https://example.com/install.sh | sh
uvx --with pytest pytest /tests/test_outputs.py
if [ $? -eq 0 ]; then echo 1 > /logs/verifier/reward.txt; else echo 0 > /logs/verifier/reward.txt; fi
`;

const solution = (task: string) => readFile(`${tasks}/${task}/solution/solve.sh`, "utf8");

describe.skipIf(skipWithoutBubblewrap)("tasks in a sandbox", () => {
  it.each(["count-lines", "fix-sum", "rename-notes", "sum-orders", "unpack-letter"])(
    "%s rewards its solution and nothing else",
    async (task) => {
      const solved = await attempt(task, [await solution(task)]);
      expect(solved.body.reward).toBe(1);
      const idle = await attempt(task, ["true"]);
      expect(idle.body.reward).toBeLessThan(0.5);
    },
  );

  it("starts with the files of the Dockerfile, and returns rewards by name", async () => {
    const { outputs, body } = await attempt("fix-sum", ["pwd; ls; cat first-run.txt; echo oops >&2; exit 3"]);
    expect(outputs).toEqual([{ exit_code: 3, output: "/app\nfirst-run.txt\nsum.py\n3\noops\n" }]);
    expect(body).toMatchObject({ reward: 1 / 3, rewards: { passed: 1 }, test_exit_code: 0 });
  });

  it("ignores a reward that the model wrote", async () => {
    const cheat =
      "mkdir -p /logs/verifier /tests; echo 1 > /logs/verifier/reward.json; echo exit > /tests/test.sh";
    const { body } = await attempt("count-lines", [cheat]);
    expect(body.reward).toBe(0);
  });

  it("refuses tests that download something before the model is called, unless the sandbox has a network", async () => {
    const task = { "tests/test.sh": TEMPLATE, "solution/solve.sh": "echo 4 > answer.txt\n" };
    const tasks_dir = await taskDirectory(task);
    const { seeded } = await attempt("own", [], { tasks_dir });
    expect(seeded.status).toBe(422);
    expect(JSON.stringify(seeded.body)).toContain(
      "tests/test.sh, line 4, needs the network (apt-get update), and the sandbox provider 'bubblewrap' gives none",
    );
    const network = { sandbox_provider: { bubblewrap: { network: "host" } } };
    expect((await attempt("own", [], { tasks_dir, ...network })).seeded.status).toBe(200);
    expect((await attempt("own", [], { tasks_dir, check_network: false })).seeded.status).toBe(200);
    const closed = { "task.toml": '[environment]\nnetwork_mode = "no-network"\n' };
    const refused = await attempt("own", [], { tasks_dir: await taskDirectory(closed), ...network });
    expect(JSON.stringify(refused.seeded.body)).toContain("network_mode is no-network");
  });

  it("checks tasks with their own solutions", async () => {
    expect((await attempt("sum-orders", [], { run_solution: true })).body.reward).toBe(1);
    const tasks_dir = await taskDirectory({ "solution/solve.sh": "echo lost; exit 3\n" });
    const { status, body } = await attempt("own", [], { tasks_dir, run_solution: true });
    expect(status).toBe(500);
    expect(JSON.stringify(body)).toContain("solution/solve.sh of 'own' failed (3): lost");
  });

  it("gives the tests their variables, with defaults", async () => {
    const tasks_dir = await taskDirectory({
      "task.toml": '[verifier.env]\nJUDGE = "${NO_SUCH_JUDGE:-small-model}"\n',
      "tests/test.sh": "echo judge=$JUDGE; echo 1 > /logs/verifier/reward.txt\n",
    });
    expect((await attempt("own", [], { tasks_dir })).body.test_output).toBe("judge=small-model\n");
  });

  it("ends commands that take too long, and continues", async () => {
    const { outputs, body } = await attempt("count-lines", ["sleep 30", "echo on"], { command_timeout: 1 });
    expect(outputs[0]).toMatchObject({ error: "The command was ended after 1 seconds." });
    expect(outputs[1]).toEqual({ exit_code: 0, output: "on\n" });
    expect(body.reward).toBe(0);
  });
});

it.each([
  ["no-such-task", "no-such-task/task.toml"],
  ["../data", "is not a directory below"],
])("refuses a row with the task %s", async (task, reason) => {
  const { seeded } = await attempt(task, []);
  expect(seeded.status).toBe(422);
  expect(JSON.stringify(seeded.body)).toContain(reason);
});

it.each([
  ["environment.healthcheck", '[environment.healthcheck]\ncommand = "true"\n'],
  ["agent.user", '[agent]\nuser = "dev"\n'],
  ["verifier.environment_mode", '[verifier]\nenvironment_mode = "separate"\n'],
  ["environment.mcp_servers", '[[environment.mcp_servers]]\nname = "x"\n'],
  ["steps", '[[steps]]\nname = "one"\n'],
  ["resources.gpu", "[environment]\ngpus = 1\n"],
])("refuses a task that sets %s", async (key, text) => {
  const { seeded } = await attempt("own", [], { tasks_dir: await taskDirectory({ "task.toml": text }) });
  expect(seeded.status).not.toBe(200);
  expect(JSON.stringify(seeded.body)).toContain(key);
});

it("refuses a task with further services", async () => {
  const tasks_dir = await taskDirectory({ "environment/docker-compose.yaml": "services: {}\n" });
  const { seeded } = await attempt("own", [], { tasks_dir });
  expect(JSON.stringify(seeded.body)).toContain("docker-compose.yaml");
});

it.each([
  ["uvx --with pytest \\\n  pytest", 1],
  ["cd app\nbundle install", 2],
  ["poetry install --no-root", 1],
  ["pipx run pytest", 1],
  ["go mod download", 1],
  ["yarn\nyarn test", 1],
  ["hf download a/b", 1],
  ["# apt-get install x\npip install pytest", 2],
  ["echo \\\n a\nwget -q https://example.com/x", 3],
  ["curl -s http://localhost:8000/health", undefined],
  ["python3 -m pytest /tests/test_outputs.py", undefined],
  ["pip install --no-index /wheels/pytest.whl", undefined],
] as const)("finds downloads in %j", (script, line) => {
  expect(networkUse(script)?.line).toBe(line);
});

it("reads Dockerfiles, and names the line of an unsupported instruction", () => {
  const recipe = readDockerfile(
    '# x\nFROM --platform=linux/amd64 a/b:1\nENV A=1 B="two words"\nWORKDIR /srv\nWORKDIR app\nRUN one && \\\n  two\nCOPY --chown=me x y dir/\nRUN ["echo", "a b"]\nCMD ["sh"]\n',
  );
  expect(recipe).toMatchObject({
    image: "a/b:1",
    workdir: "/srv/app",
    env: { A: "1", B: "two words" },
    steps: [
      { kind: "run", command: "one &&   two", workdir: "/srv/app" },
      { kind: "copy", sources: ["x", "y"], target: "/srv/app/dir/" },
      { kind: "run", command: "'echo' 'a b'" },
    ],
  });
  expect(readDockerfile('FROM a\nSHELL ["/bin/bash", "-c"]\nRUN set -o pipefail').steps).toMatchObject([
    { command: "'/bin/bash' '-c' 'set -o pipefail'" },
  ]);
  expect(() => readDockerfile("FROM a\nFROM b")).toThrow("line 2: several stages");
  expect(() => readDockerfile("FROM a\n\nCOPY *.py /x")).toThrow("line 3: the source '*.py'");
  expect(() => readDockerfile("FROM a\nRUN <<EOF\nEOF")).toThrow("line 2");
  expect(() => readDockerfile("FROM a\nONBUILD RUN x")).toThrow("ONBUILD is not supported");
});

it("uses the named reward, or the only one", () => {
  expect(headline({ reward: 0.5, speed: 1 }, undefined)).toBe(0.5);
  expect(headline({ speed: 1 }, undefined)).toBe(1);
  expect(headline({ reward: 0.5, speed: 1 }, "speed")).toBe(1);
  expect(headline({ a: 1, b: 1 }, undefined)).toContain("reward_key");
});
