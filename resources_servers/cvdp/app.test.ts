import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, describe, expect, it } from "vitest";
import app, { cvdp } from "./app.ts";
import { parseRtl } from "./parse-rtl.ts";
import { bleuOfPairs, sharedPairs } from "./text-scores.ts";

const compose = (command: string) => `services:
  first:
    image: __OSS_SIM_IMAGE__
    volumes: ["./src:/src:ro", "./rtl:/code/rtl"]
    env_file: ./src/.env
    environment: [MORE=2]
    working_dir: /code/rundir
    command: ${command}
  second:
    image: __OSS_SIM_IMAGE__
    command: ["grep", "-q", "seen", "/code/rundir/log"]
`;
const row = (command: string, changed = {}) => ({
  verifier_metadata: {
    task_id: "t",
    categories: ["cid003", "easy"],
    target_files: ["rtl/a.sv"],
    harness_files: {
      "docker-compose.yml": compose(command),
      "src/.env": "# none\nWANTED=module\n",
      "src/run.sh": 'grep -q "$WANTED" /code/rtl/a.sv && echo seen $MORE > log',
    },
    ...changed,
  },
});

describe.skipIf(skipWithoutBubblewrap)("the harness", () => {
  // An empty directory as image: the programs of this machine.
  const image = mkdtempSync(path.join(tmpdir(), "cvdp-image-"));
  afterAll(() => rmSync(image, { recursive: true }));
  const verify = async (
    answer: string,
    task: Record<string, unknown>,
    oss_sim_image: string | null = image,
  ) => {
    const config = { sandbox_provider: { bubblewrap: {} }, oss_sim_image, container_timeout: 2 };
    const server = await createTestServer(app, { config });
    const reply = await server.verify(verifyBody(task, messageItem(answer)));
    await server.close();
    return reply;
  };

  it("runs the services one after another, with links, variables and the files of the one before", async () => {
    const { body } = await verify("module a;", row("sh /src/run.sh"));
    expect(body).toMatchObject({
      reward: 1,
      container_services: [{ service: "first" }, { service: "second" }],
    });
  });

  it.each([
    ["an answer that the tests refuse", "nothing", "sh /src/run.sh"],
    ["a service without an end", "module a;", "sleep 60"],
  ])("does not reward %s", async (_title, answer, command) => {
    expect((await verify(answer, row(command))).body).toMatchObject({ reward: 0, parse_failed: false });
  });

  it("fails without a score if the image is missing", async () => {
    const { status, body } = await verify("module a;", row("true"), "/does/not/exist");
    expect(status).toBe(503);
    expect(JSON.stringify(body)).toContain("sandbox_unavailable");
    expect((await verify("module a;", row("true"), null)).status).toBe(422);
  });
});

describe("cvdp", () => {
  const verify = async (answer: string, task: Record<string, unknown>, exitCode = 0) => {
    const runs: Record<string, string>[] = [];
    const definition = cvdp(async ({ files }) => {
      runs.push(files);
      return { exitCode, stderr: "", services: [] };
    });
    const server = await createTestServer(definition, { config: {} });
    const { status, body } = await server.verify(verifyBody(task, messageItem(answer)));
    await server.close();
    return { status, body, runs };
  };

  it("rewards what the harness accepts, and keeps the files of the harness", async () => {
    const task = row("true", {
      harness_files: { "src/run.sh": "tests", "../out": "x" },
      target_files: ["src/run.sh"],
    });
    const { body, runs } = await verify("exit 0", task);
    expect(body).toMatchObject({ reward: 1, extracted_rtl: { "src/run.sh": "exit 0" } });
    expect(runs).toEqual([{ "src/run.sh": "tests" }]);
    expect((await verify("exit 0", task, 1)).body).toMatchObject({ reward: 0, container_exit_code: 1 });
  });

  it("compares explanations with the reference", async () => {
    const question = row("true", {
      categories: ["cid009", "hard"],
      subjective_reference: "it adds two numbers",
    });
    expect((await verify("it adds two numbers", question)).body).toMatchObject({ reward: 1, rouge_score: 1 });
    expect((await verify("no idea", question)).body).toMatchObject({ reward: 0 });
  });

  it.each([
    ["a category without a number", { categories: ["cidX", "easy"] }],
    ["a reference of one word", { categories: ["cid006", "easy"], subjective_reference: "one" }],
  ])("rejects %s", async (_title, changed) => {
    expect((await verify("some words", row("true", changed))).status).toBe(422);
  });
});

it.each([
  ["```sv\nm\n``` and ```sv\nn\n```", ["a"], { a: "m\n" }],
  ["module a;", ["a"], { a: "module a;" }],
  ["``````", ["a"], undefined],
  ['{code: [{"a": "x"}, {"b": "```v\\ny```"}]}', ["a", "b"], { a: "x", b: "y" }],
  ["nothing", ["a", "b"], undefined],
  ["x", [], undefined],
])("parses %j", (text, targets, files) => {
  expect(parseRtl(text, targets)).toEqual(files);
});

it("scores pairs of words like NLTK", () => {
  expect(
    bleuOfPairs(
      "the module adds two numbers",
      "the module adds two numbers and stores the sum in a register",
    ),
  ).toBeCloseTo(0.2465969639416065, 12);
  expect(bleuOfPairs("", "a b")).toBe(0);
  expect(sharedPairs("A b, c", "a b c d")).toBeCloseTo(2 / 3, 12);
});
