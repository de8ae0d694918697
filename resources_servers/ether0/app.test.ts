import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createTestServer, messageItem, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import app from "./app.ts";
import { normalName } from "./rules.ts";

const directory = import.meta.dirname;
const python = process.env["RDKIT_PYTHON"] ?? "python3";
const skipWithoutRdkit = spawnSync(python, ["-c", "import rdkit, exmol"]).status !== 0;
if (skipWithoutRdkit) console.warn(`ether0: molecules skipped, ${python} has no rdkit and exmol`);

type Server = Awaited<ReturnType<typeof createTestServer>>;
const start = (config: Record<string, unknown>) => createTestServer(app, { config, directory });
const ask = (server: Server, solution: unknown, answer: string, choices?: object) => {
  const metadata = { solution, problem_type: "p", ...(choices && { choices }) };
  return server.verify(verifyBody({ verifier_metadata: metadata }, messageItem(answer)));
};
async function score(
  solution: unknown,
  answer: string,
  config: Record<string, unknown> = {},
  choices?: object,
) {
  const server = await start(config);
  try {
    return await ask(server, solution, answer, choices);
  } finally {
    await server.close();
  }
}

it.each([
  [" 2-Methyl Propane ", "2-methyl-propane"],
  ["2-(methyl)-propane", "2-methyl-propane"],
  ["bicyclo[2.2.1^{2,5}]x", "bicyclo[2.2.1(2,5)]x"],
  ["$\\{E}~x$", "\\ex"],
  ["a(b)-c", "a(b)-c"],
])("normalizes the name %s", (name, normal) => {
  expect(normalName(name)).toBe(normal);
});

it.each([
  ["<answer>x</answer> no, <answer>CCO</answer>", "CCO"],
  ["<|answer_start|>CCO<|answer_end|>", "CCO"],
  ["\\boxed{a{b}}", "a{b}"],
  ["Answer: b", "second"],
  ["<answer>c</answer>", "c"],
  ["<answer> </answer>", null],
  ["CCO", null],
])("reads the answer of %j", async (text, extracted_answer) => {
  const { body } = await score("str_eval!:!CCO!:!p", text, {}, { A: "first", B: "second" });
  expect(body).toMatchObject({ extracted_answer, reward: Number(extracted_answer === "CCO") });
});

it.each(["str_eval!:!CCO", "", 5, null, "constructor!:!CCO!:!p", { fxn_name: "str_eval" }])(
  "gives 0 for the solution %j",
  async (solution) => {
    expect((await score(solution, "<answer>CCO</answer>")).body).toMatchObject({ reward: 0 });
  },
);

it("compares names of reactions without their punctuation", async () => {
  const solution = "rxn_eval!:!Diels–Alder; endo!:!p";
  expect((await score(solution, "<answer>diels alder endo</answer>")).body.reward).toBe(1);
  expect((await score(solution, "<answer>diels alder exo</answer>")).body.reward).toBe(0);
});

it("fails the rollout without RDKit", async () => {
  const reply = await score("product_eval!:!CCCO!:!p", "<answer>OCCC</answer>", { python: "no-such-python" });
  expect(reply.status).toBe(500);
  expect(JSON.stringify(reply.body)).toContain("rdkit");
});

describe.skipIf(skipWithoutRdkit)("molecules", () => {
  let server: Server;
  beforeAll(async () => {
    server = await start({ python });
  });
  afterAll(() => server.close());

  it.each([
    ["product_eval!:!CCCO!:!p", "OCCC", 1],
    ["product_eval!:!C[C@H](O)CC!:!p", "C[C@@H](O)CC", 0],
    ["formula_eval!:!CC(=O)Oc1ccccc1C(=O)O!:!p", "OC(=O)c1ccccc1OC(C)=O", 1],
    ["formula_eval!:!CC(=O)Oc1ccccc1C(=O)O!:!p", "CCCC", 0],
    ["should_answer_eval!:!x!:!p", "hello", 0],
    ["should_answer_eval!:!x!:!p", "C".repeat(5000), 0],
    ["functional_group_eval!:!('C2H6O', ['alcohol'])!:!p", "CCO", 1],
    ["functional_group_eval!:!('C2H6O', ['alcohol'])!:!p", "COC", 0],
    ["functional_group_eval!:!not a literal!:!p", "COC", 0],
    ["valid_mol_eval!:!CC!:!p", "CC.CC.CC", 0],
  ])("%s rates %s", async (solution, answer, reward) => {
    expect((await ask(server, solution, `<answer>${answer}</answer>`)).body.reward).toBe(reward);
  });

  it("asks the services, and fails the rollout without them", async () => {
    const asked: string[] = [];
    const service = createServer((request, reply) => {
      asked.push(request.url ?? "");
      const answers: Record<string, object> = {
        "/compute_solubility": { mean: -0.6 },
        "/is_purchasable": { NCCCCC: true },
        "/translate": { product: "CC(=O)NCCCCC" },
      };
      reply.end(JSON.stringify(answers[request.url ?? ""] ?? {}));
    });
    await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
    const config = {
      python,
      remote_base_url: `http://127.0.0.1:${(service.address() as AddressInfo).port}/`,
    };
    const served = await start(config);
    const soluble = "sol_eval!:!('scaffold', 'CO', -1.0, 'increase')!:!p";
    try {
      expect((await ask(served, soluble, "<answer>CCO</answer>")).body.reward).toBe(1);
      const reaction = "<answer>CC(=O)Cl.NCCCCC>></answer>";
      expect((await ask(served, "rxn_forward!:!CC(=O)NCCCCC!:!p", reaction)).body.reward).toBe(1);
      expect(asked).toEqual(["/compute_solubility", "/is_purchasable", "/translate"]);
      expect((await ask(server, soluble, "<answer>CCO</answer>")).status).toBe(500);
    } finally {
      service.close();
      await served.close();
    }
  });
});
