import { readFileSync } from "node:fs";
import path from "node:path";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";
import { EXPERIMENTS, instrument, reportable } from "./experiments.ts";
import { compileFormula } from "./formula.ts";
import { DIFFICULTIES, lawOf, SUBJECTS, type SubjectName, VERSIONS } from "./laws.ts";

const directory = import.meta.dirname;
const [row] = readFileSync(path.join(directory, "data/example.jsonl"), "utf8")
  .split("\n")
  .map((line) => JSON.parse(line || "{}"));
const subjects = Object.keys(SUBJECTS) as SubjectName[];
const law = (body: string, parameters = "mass1, mass2, distance") =>
  `<final_law>\ndef discovered_law(${parameters}):\n    ${body}\n</final_law>`;

describe("formulas", () => {
  it.each([
    ["-a ** 2", -9],
    ["2 ** -1 * 4", 2],
    ["2 - 3 - 4", -5],
    ["2 ** 3 ** 2", 512],
    ["(1 + a) / 2 * b", 10],
    ["sqrt(16) + log(e)", 5],
    ["1.5e1", 15],
    ["acosd(cosd(60))", 60],
  ])("computes %s", (text, value) => {
    expect(compileFormula(text, ["a", "b"])({ a: 3, b: 5 })).toBeCloseTo(value, 12);
  });

  it.each(["a +", "(a", "a b", "c", "a $ 2", "sqrt a"])("rejects %s", (text) => {
    expect(() => compileFormula(text, ["a", "b"])).toThrow(text);
  });
});

it.each(subjects)("has nine laws of %s with values in their ranges", (name) => {
  const formulas = new Set<string>();
  for (const difficulty of DIFFICULTIES)
    for (const version of VERSIONS) {
      const { formula, parameters, value } = lawOf(name, difficulty, version);
      formulas.add(formula);
      const middle = Object.values(parameters).map(({ from, to, scale }) =>
        scale === "linear" ? from + 0.1 * (to - from) : Math.sqrt(from * to),
      );
      // Some angles are not refracted, and only warm light has a number of photons in one law.
      const isPartial = name === "m4_snell_law" || name === "m10_be_distribution";
      if (!isPartial) expect(value(...middle)).not.toBeNaN();
    }
  expect(formulas.size).toBe(9);
});

it("runs the experiments of each system", () => {
  const measure = instrument(0, () => 0.5);
  const run = (name: SubjectName, system: "simple_system" | "complex_system", given: object) => {
    const experiment = EXPERIMENTS[name];
    const input = experiment.input.parse(given);
    return reportable(experiment[system](input, lawOf(name, "easy", "v0").value, measure));
  };
  const fall = run("m0_gravity", "simple_system", { mass1: 1e4, mass2: 1, distance: 1, duration: 0.02 });
  // The force at the beginning is 0.6674.
  expect(fall).toEqual({
    time: ["0.000e+00", "1.000e-02"],
    position: ["1.000000e+00", "9.999666e-01"],
    velocity: ["0.000000e+00", "-6.674167e-03"],
  });
  expect(run("m0_gravity", "complex_system", { mass1: 1, mass2: 1, distance: 1, duration: 0 })).toEqual({
    time: [],
    position: [],
    velocity: [],
  });
  expect(run("m4_snell_law", "simple_system", { incidence_angle: 0, speed_medium2: 3e8 })).toEqual({
    refraction_angle: "9.000000e+01",
  });
  expect(run("m6_underdamped_harmonic", "simple_system", { k_constant: 1, mass: 1, b_constant: 2 })).toEqual({
    period: "invalid",
  });
  expect(run("m7_malus_law", "simple_system", { I_0: 100, theta: 2 })).toBeNull();
  // The band lies where the number of photons is close to one half.
  expect(run("m10_be_distribution", "complex_system", { temperature: 1e3 })).toEqual({
    total_power: "5.000000e+27",
  });
  const bulbs = run("m11_heat_transfer", "complex_system", { m: 1, c: 100, delta_T: 100 });
  // Half of everything that is drawn: a difference of 5 % of 1e7 W s in a second, less a fifth.
  expect(bulbs).toBe(400_000);
  expect(instrument(0.01, () => 0.5)(100)).toBeCloseTo(100 - Math.sqrt(2 * Math.log(2)), 9);
});

describe("experiments of a session", () => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(app, { directory });
  });
  afterAll(() => server.close());

  it("measures with the noise of the row, alike in each rollout", async () => {
    const measure = async (noise_level: number) => {
      const jar = server.newJar();
      await server.seed({ ...row, noise_level }, jar);
      const given = { mass1: 2, mass2: 3, distance: 1 };
      return (await server.tool("run_experiment_m0_gravity", given, jar)).body.result;
    };
    expect(await measure(0)).toBeCloseTo(6.674e-5 * 6, 15);
    const noisy = await measure(0.1);
    expect(noisy).not.toBe(await measure(0));
    expect(noisy).toBe(await measure(0.1));
  });

  it("refuses calls without a rollout, of other subjects and with parameters that are no numbers", async () => {
    const jar = server.newJar();
    const call = async (name: string, given: object) =>
      (await server.tool(`run_experiment_${name}`, given, jar)).status;
    expect(await call("m9_hooke_law", { x: 1 })).toBe(400);
    await server.seed(row, jar);
    expect(await call("m9_hooke_law", { x: 1 })).toBe(400);
    expect(await call("m0_gravity", { mass1: "heavy", mass2: 1, distance: 1 })).toBe(422);
    expect((await server.seed({ ...row, module_name: "m12_none" }, server.newJar())).status).toBe(400);
    expect((await server.seed({ ...row, law_version: "v3" }, server.newJar())).status).toBe(422);
  });
});

describe.skipIf(skipWithoutBubblewrap)("the verifier", () => {
  const judged: string[] = [];
  let answer: unknown = verifyBody({}, messageItem("Reasoning …\nAnswer: NO")).response;
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(app, {
      directory,
      config: {
        judge_model_server: { type: "responses_api_models", name: "judge" },
        max_execution_time: 1,
      },
      servers: {
        judge: (_, body) => {
          judged.push(JSON.stringify(body));
          return answer as object;
        },
      },
    });
  });
  afterAll(() => server.close());
  const verify = async (text: string, task = row) => {
    judged.length = 0;
    const jar = server.newJar();
    await server.seed(task, jar);
    return server.verify(verifyBody({}, messageItem(text)), jar);
  };

  it("needs no judge for a law with the right values", async () => {
    const right = law("return 6.674e-5 * mass1 * mass2 * distance ** -1.5");
    expect((await verify(right)).body).toMatchObject({ reward: 1, symbolic_equivalent: true });
    expect(judged).toEqual([]);
  });

  it("asks a judge about other constants", async () => {
    const other = law("return 7e-5 * mass1 * mass2 / distance ** 1.5");
    const rejected = (await verify(other)).body;
    expect(rejected).toMatchObject({ symbolic_equivalent: false, exact_accuracy: 0 });
    expect(judged[0]).toContain("C * mass1 * mass2 / distance ** 1.5");
    answer = verifyBody({}, messageItem("Not `Answer: NO`.\n**Answer: YES**")).response;
    const accepted = (await verify(other)).body;
    expect(accepted).toMatchObject({ symbolic_equivalent: true, exact_accuracy: 1 });
    expect(accepted.reward - rejected.reward).toBeCloseTo(0.6, 9);
    answer = verifyBody({}, messageItem("Answer: NO")).response;
  });

  it.each([
    ["that fails", "return undefined_name", "NameError"],
    ["that ends its process", "import os; os._exit(0)", "ended"],
    ["without an end", "while True: pass", "too long"],
    ["that is no number", "return 'large'", ""],
    ["that exits", "raise SystemExit", "SystemExit"],
  ])("gives a law %s no value", async (_title, body, error) => {
    const reply = await verify(law(body));
    expect(reply.body).toMatchObject({ reward: -0.3, rmsle: null });
    expect(reply.body.evaluation_error ?? "").toContain(error);
  });

  it("counts missing values as 0", async () => {
    // Right at half of the points.
    const half = "return 6.674e-5 * mass1 * mass2 / distance ** 1.5 if mass1 > 30 else float('nan')";
    expect((await verify(law(half))).body.reward).toBeLessThan(0.4);
    expect((await verify(law("return float('nan')"))).body).toMatchObject({ reward: -0.3, rmsle: null });
  });

  it("fails the rollout if the judge fails", async () => {
    answer = { nothing: true };
    expect((await verify(law("return 1"))).body).toMatchObject({ _ng_failure_class: "judge_failed" });
  });

  it("scores once", async () => {
    const jar = server.newJar();
    await server.seed(row, jar);
    expect((await server.verify(verifyBody({}, messageItem("none")), jar)).body.reward).toBe(0);
    expect((await server.verify(verifyBody({}, messageItem("none")), jar)).status).toBe(400);
  });
});
