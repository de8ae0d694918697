import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { describe, expect, it } from "vitest";
import definition from "./app.ts";
import { readDockerfile } from "./dockerfile.ts";
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
