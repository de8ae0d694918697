import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createTestServer, modelResponse, skipWithoutBubblewrap } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgedTests } from "../../libraries/python-answers/test-programs.ts";
import secondDefinition from "../mini_swe_agent_2/app.ts";
import definition from "./app.ts";

const rows = readFileSync(new URL("data/example.jsonl", import.meta.url), "utf8")
  .trim()
  .split("\n")
  .map((line): Record<string, unknown> => JSON.parse(line));
const [row = {}] = rows;
const response = modelResponse();

it("gives 0 for an answer without a patch, without using a sandbox", async () => {
  const server = await createTestServer(definition);
  const { status, body } = await server.verify({ ...row, response });
  expect(status).toBe(200);
  expect(body).toMatchObject({ reward: 0, resolved: false });
  expect(body.metadata.eval_report[String(row["instance_id"])]).toMatchObject({ patch_exists: false });
  await server.close();
});

it("refuses a row that is not an instance", async () => {
  const server = await createTestServer(definition);
  const { instance_id: _id, ...rest } = row;
  expect((await server.verify({ ...rest, response })).status).toBe(422);
  await server.close();
});

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** A patch that adds code to the end of a file of the shop, or makes the file. */
function patchOf(file: string, code: string): string {
  const path = here(`data/rootfs/tiny__shop/testbed/${file}`);
  const old = existsSync(path) ? readFileSync(path, "utf8").trimEnd().split("\n") : [];
  const kept = old.length === 1 && old[0] === "" ? [] : old;
  const added = code.trim().split("\n");
  return [
    `diff --git a/${file} b/${file}`,
    ...(existsSync(path) ? [] : ["new file mode 100644"]),
    `--- ${existsSync(path) ? `a/${file}` : "/dev/null"}`,
    `+++ b/${file}`,
    `@@ -${kept.length === 0 ? 0 : 1},${kept.length} +1,${kept.length + added.length} @@`,
    ...kept.map((line) => ` ${line}`),
    ...added.map((line) => `+${line}`),
    "",
  ].join("\n");
}

const passes = [...(row["FAIL_TO_PASS"] as string[])];
const fakeLog = `print("""${passes.map((name) => `${name} ... ok`).join("\n")}

Ran 6 tests in 0.001s

OK""", flush=True)`;
const cheats: [title: string, patch: string][] = [
  ["printed results", patchOf("shop/prices.py", `import os\n${fakeLog}\nos._exit(0)`)],
  ["a module unittest", patchOf("unittest.py", fakeLog)],
  [
    "assertions patched by the package of the tests",
    patchOf("tests/__init__.py", "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None"),
  ],
  [
    "a selective patch",
    patchOf(
      "shop/prices.py",
      `import unittest
old = unittest.TestCase._callTestMethod
def call(self, method):
    if not type(self).__module__.startswith("tests"):
        old(self, method)
unittest.TestCase._callTestMethod = call`,
    ),
  ],
  [
    "a patch at the call",
    patchOf(
      "shop/prices.py",
      `def format_price(cents):
    import unittest
    unittest.TestCase.assertEqual = lambda *arguments: None`,
    ),
  ],
  [
    "a value that equals everything, with a patched result",
    patchOf(
      "shop/prices.py",
      "import unittest\nunittest.TestResult.addFailure = unittest.TestResult.addSuccess",
    ),
  ],
  ...forgedTests("format_price")
    .filter(([title]) =>
      /unittest|equality|mock|_exit|reply|descriptors|TestCase|suite|builtins|trace|running|harness/.test(
        title,
      ),
    )
    .map(([title, code]): [string, string] => [title, patchOf("shop/prices.py", code)]),
];

describe.skipIf(skipWithoutBubblewrap).each([
  { name: "mini_swe_agent", grader: definition, forged: cheats },
  // The same grader with other metrics.
  { name: "mini_swe_agent_2", grader: secondDefinition, forged: cheats.slice(0, 4) },
])("the tests of an instance of $name", ({ grader, forged }) => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    server = await createTestServer(grader, {
      config: { rootfs_template: `${here("data/rootfs/")}{repo}` },
    });
  });
  afterAll(() => server.close());
  const verify = async (model_patch: string, instance = row) =>
    (await server.verify({ ...instance, response: { ...response, metadata: { model_patch } } })).body;

  it("reward the reference solutions, and nothing else", async () => {
    for (const [index, instance] of rows.entries()) {
      expect(await verify(String(instance["patch"]), instance)).toMatchObject({ reward: 1, resolved: true });
      const other = rows[(index + 1) % rows.length];
      expect(await verify(String(other?.["patch"]), instance)).toMatchObject({ reward: 0, resolved: false });
    }
  });

  it("run with files that a patch also changes, without the changes to the tests", async () => {
    const support = patchOf("tests/helpers.py", "raise RuntimeError('not needed')");
    expect(await verify(`${row["patch"]}${support}`)).toMatchObject({ reward: 1 });
  });

  it("may compare with values of their own that equal many values", async () => {
    const matcher = `+class AnyText:
+    def __eq__(self, other):
+        return isinstance(other, str)
+
+
+class MatchTest(unittest.TestCase):
+    def test_match(self):
+        self.assertEqual({"price": format_price(5)}, {"price": AnyText()})
+        self.assertEqual(format_price(5), AnyText())
+
+
`;
    const head = "@@ -5,6 +5,10 @@ from shop.prices import discounted, format_price, parse_price\n \n \n";
    const test_patch = String(row["test_patch"]).replace(head, `${head.replace("+5,10", "+5,21")}${matcher}`);
    expect(test_patch).toContain("AnyText");
    const name = "test_match (tests.test_shop.MatchTest.test_match)";
    const instance = { ...row, test_patch, FAIL_TO_PASS: [...passes, name] };
    expect(await verify(String(row["patch"]), instance)).toMatchObject({ reward: 1 });
  });

  it.each(forged)("do not reward %s", async (_title, patch) => {
    const body = await verify(patch);
    expect(body).toMatchObject({ reward: 0, resolved: false });
    expect(Object.values(body.metadata.eval_report)).toMatchObject([{ patch_successfully_applied: true }]);
  });
});
