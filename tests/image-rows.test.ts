import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { crc32, deflateSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { project, runGym } from "./gym-process.ts";
import { findBrowser, startBrowser } from "./support/browser.ts";
import { openPage, startViewer } from "./viewer/support.ts";

/** A PNG of 1000 x 1000 random pixels: 3 MB. */
function noise(): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(data.length, 0);
    frame.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
  };
  const header = Buffer.from([0, 0, 3, 232, 0, 0, 3, 232, 8, 2, 0, 0, 0]);
  const rows = Array.from({ length: 1000 }, () => Buffer.concat([Buffer.from([0]), randomBytes(3000)]));
  const pixels = deflateSync(Buffer.concat(rows), { level: 0 });
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");
const linesOf = (file: string) => readFileSync(file, "utf8").split("\n").filter(Boolean);
const rewardsOf = (file: string) =>
  linesOf(file)
    .map((line) => JSON.parse(line) as Record<string, number>)
    .map((row) => [row["_ng_task_index"], row["_ng_rollout_index"], row["reward"]].join(" "))
    .sort();

/** The model repeats the digest of the image that it gets; the verifier compares it with that of the stored image. */
const FILES = {
  "resources_servers/seen/app.ts": `
import { createHash } from "node:crypto";
import { defineResourcesServer } from "nemo-gym";
export default defineResourcesServer({
  reverifyMode: "stateless",
  verify: ({ body, response }) => {
    const { image_url } = body.responses_create_params.input[0].content[0];
    const digest = createHash("sha256").update(image_url).digest("hex");
    const said = response.output[0].content[0].text;
    return { reward: digest === body.digest && said === digest ? body.worth : 0 };
  },
});
`,
  "responses_api_models/looking/app.ts": `
import { createHash } from "node:crypto";
import { defineModel } from "nemo-gym";
export default defineModel({
  async responses({ params }) {
    const { image_url } = params.input[0].content[0];
    const text = createHash("sha256").update(image_url).digest("hex");
    return { id: "resp", created_at: 0, model: "yes", object: "response", parallel_tool_calls: true, tool_choice: "auto", tools: [],
      output: [{ type: "message", id: "m", role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [] }] }] };
  },
});
`,
  "seen.yaml": `
seen:
  resources_servers:
    seen: {entrypoint: app.ts, domain: other}
seen_agent:
  responses_api_agents:
    simple_agent:
      entrypoint: app.ts
      resources_server: {type: resources_servers, name: seen}
      model_server: {type: responses_api_models, name: policy_model}
policy_model:
  responses_api_models:
    looking: {entrypoint: app.ts}
`,
};

it("keeps images of 3 MB beside the results, and gives them back to every reader", {
  timeout: 120_000,
}, async () => {
  const images = [noise(), noise()].map((content) => `data:image/png;base64,${content.toString("base64")}`);
  const rows = images.map((image_url, task) => ({
    responses_create_params: {
      input: [{ role: "user", content: [{ type: "input_image", image_url, detail: "auto" }] }],
    },
    digest: digestOf(image_url),
    worth: (task + 1) / 2,
  }));
  const cwd = await project({
    ...FILES,
    "in.jsonl": rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
  });
  const gym = async (...argv: string[]) => {
    const ended = await runGym(argv, { cwd });
    expect(ended.stderr + ended.stdout, argv.join(" ")).not.toMatch(/Traceback|Error/);
    expect(ended.exitCode, `${argv.join(" ")}\n${ended.stderr}`).toBe(0);
    return ended;
  };
  const run = ["eval", "run", "--config", "seen.yaml", "--agent", "seen_agent", "--input", "in.jsonl"];
  const file = (name: string) => path.join(cwd, "res", name);
  const expected = ["0 0 0.5", "0 1 0.5", "1 0 1", "1 1 1"];

  await gym(...run, "--num-repeats", "2", "--output", "res/out.jsonl");
  expect(rewardsOf(file("out.jsonl"))).toEqual(expected);
  const small = (name: string) => Math.max(...linesOf(file(name)).map((line) => line.length)) < 10_000;
  expect([small("out.jsonl"), small("out_materialized_inputs.jsonl")]).toEqual([true, true]);
  expect(readdirSync(file("rollout_images"))).toHaveLength(2);

  const [first = ""] = linesOf(file("out.jsonl"));
  await writeFile(file("out.jsonl"), `${first}\n`);
  await gym(...run, "--num-repeats", "2", "--output", "res/out.jsonl", "--resume");
  expect(rewardsOf(file("out.jsonl"))).toEqual(expected);
  expect(small("out.jsonl")).toBe(true);

  const again = ["eval", "reverify", "--config", "seen.yaml"];
  const stored = ["--rollouts", "res/out.jsonl", "--inputs", "res/out_materialized_inputs.jsonl"];
  await gym(...again, ...stored, "--output", "elsewhere/again.jsonl");
  expect(rewardsOf(path.join(cwd, "elsewhere/again.jsonl"))).toEqual(expected);
  expect(
    Math.max(...linesOf(path.join(cwd, "elsewhere/again.jsonl")).map(({ length }) => length)),
  ).toBeLessThan(10_000);

  await gym("eval", "export", "--rollouts", "res/out.jsonl", "--format", "sft", "--output", "sft.jsonl");
  const exported = readFileSync(path.join(cwd, "sft.jsonl"), "utf8");
  expect(images.map((image) => exported.includes(image))).toEqual([true, true]);
  await gym("eval", "aggregate", "--input", "res/out.jsonl", "--output", "merged/all.jsonl");
  expect(readdirSync(path.join(cwd, "merged/rollout_images"))).toHaveLength(2);

  await gym("run", "pack", "res/out.jsonl", "--output", "packed.gymrun");
  await rm(file("rollout_images"), { recursive: true });
  await gym("run", "verify", "packed.gymrun", "--reverify", "--config", "seen.yaml");
  const missing = await runGym([...again, ...stored, "--output", "no.jsonl"], { cwd });
  expect(missing.exitCode).not.toBe(0);
  expect(missing.stderr).toMatch(
    /An image of '.*out.*\.jsonl' cannot be read: .*rollout_images.*does not exist/s,
  );

  await gym(...run, "--output", "inline/out.jsonl", "+images=inline");
  expect(existsSync(path.join(cwd, "inline/rollout_images"))).toBe(false);
  expect(
    Math.min(...linesOf(path.join(cwd, "inline/out.jsonl")).map(({ length }) => length)),
  ).toBeGreaterThan(4e6);
});

it.skipIf(findBrowser() === undefined)(
  "shows stored images in the viewer and in its static pages",
  async () => {
    const content = noise();
    const digest = createHash("sha256").update(content).digest("hex");
    const image = { type: "input_image", image_url: `rollout_images/${digest}.png` };
    const input = [{ role: "user", content: [image] }];
    const row = { responses_create_params: { input }, reward: 1, _ng_task_index: 0, _ng_rollout_index: 0 };
    const response = { output: [{ type: "message", role: "assistant", content: "noise" }] };
    const cwd = await project({
      "run.jsonl": `${JSON.stringify({ ...row, response })}\n`,
      [`rollout_images/${digest}.png`]: content,
    });
    const { url } = await startViewer(["eval", "view", "run.jsonl", "--port", "0", "--json"], cwd);
    const made = await runGym(["eval", "view", "run.jsonl", "--to-html", "page.html"], { cwd });
    expect(made.exitCode, made.stderr).toBe(0);
    const browser = await startBrowser(findBrowser() ?? "");
    onTestFinished(() => browser.close());
    for (const address of [`${url}#/task/0/rollout/0`, `file://${cwd}/page.html#/task/0/rollout/0`]) {
      const { page, problems } = await openPage(browser, address);
      const shown = page.getByRole("button", { name: "Enlarge image" }).locator("img");
      await shown.waitFor();
      expect(
        await shown.evaluate((element) => (element as unknown as { naturalWidth: number }).naturalWidth),
      ).toBe(1000);
      expect(problems).toEqual([]);
    }
  },
);
