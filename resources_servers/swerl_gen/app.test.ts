import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createTestServer, messageItem, skipWithoutBubblewrap, verifyBody } from "nemo-gym/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { forgedFunctions, rightFunctions } from "../../libraries/python-answers/test-programs.ts";
import app from "./app.ts";

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const [row] = readFileSync(here("data/example.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));
const edit = (search: string, replace: string) =>
  messageItem(
    `<solution>\n\`\`\`python\n### shop/shop/prices.py\n<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n\`\`\`\n</solution>`,
  );
const OLD = '    return f"{cents // 100}.{cents % 100}"';

describe.skipIf(skipWithoutBubblewrap)("swerl_gen", () => {
  let server: Awaited<ReturnType<typeof createTestServer>>;
  beforeAll(async () => {
    const rootfs_template = `${here("../mini_swe_agent/data/rootfs/")}{repo}`;
    server = await createTestServer(app, { config: { rootfs_template } });
  });
  afterAll(() => server.close());
  const verify = (item: ReturnType<typeof messageItem>, changed: object = {}) =>
    server.verify(verifyBody({ ...row, ...changed }, item));

  it("grades edits with the tests of the repository", async () => {
    const right = await verify(edit(OLD, '    return f"{cents // 100}.{cents % 100:02}"'));
    expect(right.body).toMatchObject({
      reward: 1,
      verification_result: { status: "done", resolution: "RESOLVED_FULL" },
      model_patch: expect.stringMatching(
        /^diff --git a\/shop\/prices.py b\/shop\/prices.py\n--- old\n\+\+\+ new\n@@/,
      ),
    });
    expect((await verify(edit(OLD, '    return "12.05"'))).body).toMatchObject({
      ...{ reward: 0, verification_result: { resolution: "RESOLVED_NO" } },
    });
  });

  it("runs a script before and after the reference solution", async () => {
    const script = (after: string) =>
      messageItem(
        `\`\`\`python\nimport sys\nfrom shop.prices import format_price\nsys.exit(${after})\n\`\`\``,
      );
    const shows = await verify(script("0 if format_price(7) == '0.07' else 2"), { mode: "repro-gen" });
    expect(shows.body).toMatchObject({
      ...{ reward: 1, verification_result: { exit_code_before: 2, exit_code_after: 0 } },
    });
    expect((await verify(script("2"), { mode: "repro-gen" })).body.reward).toBe(0);
  });

  it.each(rightFunctions("add"))("rewards a script that uses %s", async (_title, code) => {
    const script = `${code}
import sys
from shop.prices import format_price
assert add([1, 2, 3]) == 6
sys.exit(0 if format_price(7) == '0.07' else 2)`;
    const { body } = await verify(messageItem(`\`\`\`python\n${script}\n\`\`\``), { mode: "repro-gen" });
    expect(body).toMatchObject({ reward: 1 });
  });

  it.each(["state", "/tmp/state", "~/state", "shop/state.py", ".git/state"])(
    "does not reward a script that leaves %s for its second run",
    async (name) => {
      const script = `import os, sys
path = os.path.expanduser(${JSON.stringify(name)})
if os.path.exists(path):
    sys.exit(0)
open(path, "w").close()
sys.exit(2)`;
      const { body } = await verify(messageItem(`\`\`\`python\n${script}\n\`\`\``), { mode: "repro-gen" });
      expect(body).toMatchObject({
        reward: 0,
        verification_result: { exit_code_before: 2, exit_code_after: 2 },
      });
    },
  );

  it.each(
    forgedFunctions("format_price").filter(([title]) =>
      /unittest|equality|mock|_exit|reply|builtins/.test(title),
    ),
  )("does not reward an edit that forges by %s", async (_title, code) => {
    const { body } = await verify(edit(OLD, `${OLD}\n\n${code}`));
    expect(body).toMatchObject({ reward: 0, verification_result: { resolution: "RESOLVED_NO" } });
  });

  it("gives 0 for an answer without an edit, and refuses rows that cannot be graded", async () => {
    expect((await verify(edit("not in the file", "x"))).body).toMatchObject({ reward: 0, model_patch: null });
    expect((await verify(messageItem("I cannot"))).body).toMatchObject({
      reward: 0,
      model_output: "I cannot",
    });
    expect((await verify(edit(OLD, "x"), { mode: "other" })).status).toBe(422);
    expect((await verify(edit(OLD, "x"), { metadata: { ...row.metadata, image: null } })).status).toBe(422);
  });
});
