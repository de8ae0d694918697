import { execFileSync } from "node:child_process";
import { readFile, symlink } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { project, repository, runGym } from "../gym-process.ts";
import { freePort } from "../support/free-port.ts";
import { ask, ended, eventually, lines, rollout, startViewer } from "./support.ts";

/** A web server that answers a path with a file, or with 404. */
async function startWeb(contentOf: (pathname: string) => string | Buffer | undefined): Promise<string> {
  const web = createServer((request, response) => {
    const content = contentOf(request.url ?? "/");
    response.writeHead(content === undefined ? 404 : 200).end(content);
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void web.close());
  return `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
}

describe("gym eval view", () => {
  it("serves until Ctrl-C, on the next port if one is taken", async () => {
    const cwd = await project({ "run.jsonl": lines([rollout(0, 0, "yes")]) });
    const port = await freePort();
    const first = await startViewer(["eval", "view", "run.jsonl", "--port", String(port), "--json"], cwd);
    expect(JSON.parse(first.output())).toEqual({
      url: `http://127.0.0.1:${port}/?token=${first.token}`,
      host: "127.0.0.1",
      port,
      token: expect.stringMatching(/^[\w-]{24}$/),
      runs: 1,
      file: path.join(cwd, "run.jsonl"),
    });
    const second = await startViewer(["eval", "view", ".", "--port", String(port)], cwd);
    expect(second.output()).toContain(`Port ${port} is in use; using ${port + 1}.`);
    expect(second.output()).toContain(`Viewing run.jsonl at http://127.0.0.1:${port + 1}/?token=`);
    expect((await fetch(`${second.base}api/status`)).status).toBe(401);
    await eventually(
      async () => (await ask<{ rollouts: { rows: number } }>(second, "status")).rollouts.rows,
    ).toBe(1);
    for (const { child } of [first, second]) {
      const end = ended(child);
      child.kill("SIGINT");
      expect(await end).toBe(0);
    }
  });

  it("is also available as ng_viewer", async () => {
    const cwd = await project({ "run.jsonl": lines([rollout(0, 0, "yes")]) });
    const program = path.join(cwd, "ng_viewer");
    await symlink(path.join(repository, "bin/legacy.js"), program);
    const port = await freePort();
    const words = ["+jsonl_fpath=run.jsonl", "+server_host=0.0.0.0", `+server_port=${port}`];
    const viewer = await startViewer(words, cwd, { program });
    expect(viewer.output()).toContain("`ng_viewer` is deprecated");
    expect(viewer.output()).toContain("use `gym eval view` instead");
    expect(viewer.output()).toContain(
      "Everyone who can reach this machine and has this address can read the rollouts.",
    );
    expect(viewer.base).toBe(`http://localhost:${port}/`);
  });

  it("accepts the commands of its guide", async () => {
    const guide = await readFile(path.join(repository, "docs/guide/viewer.md"), "utf8");
    const [, commands = ""] = /```bash\n([\s\S]*?)```/.exec(guide) ?? [];
    const [run = [], view = []] = commands
      .trim()
      .split("\n")
      .map((line) => line.split(" ").slice(1));
    const cwd = await project({});
    expect((await runGym(run, { cwd })).exitCode).toBe(0);
    const viewer = await startViewer([...view, "--port", "0"], cwd);
    await eventually(async () => (await ask<{ total: number }>(viewer, "rollouts")).total).toBe(20);
  });

  it("reports invalid arguments", async () => {
    const cwd = await project({
      "a.jsonl": "",
      "b.jsonl": "",
      "roll/rollouts.jsonl": "",
      "empty/readme.txt": "",
      "broken.jsonl.gz": "not gzip",
    });
    const gym = async (...words: string[]) => {
      const { exitCode, stderr } = await runGym(["eval", "view", ...words], { cwd });
      return { exitCode, stderr };
    };
    expect(await gym("none.jsonl")).toEqual({
      exitCode: 1,
      stderr: "Error: Input file not found: 'none.jsonl' (RUN).\n",
    });
    expect(await gym("a.jsonl", "roll/rolouts.jsonl")).toEqual({
      exitCode: 1,
      stderr:
        "Error: Input file not found: 'roll/rolouts.jsonl' (OTHER). Did you mean 'roll/rollouts.jsonl'?\n",
    });
    expect(await gym("empty")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("holds no rollouts file (*.jsonl, *.gymrun)"),
    });
    expect(await gym("broken.jsonl.gz")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringMatching(/broken\.jsonl\.gz' cannot be unpacked: .*header/),
    });
    execFileSync("mkfifo", [path.join(cwd, "pipe.jsonl")]);
    expect(await gym("pipe.jsonl")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("pipe.jsonl' is not a regular file."),
    });
    expect(await gym("http://")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("argument RUN: 'http://' is not a web address"),
    });
    const web = await startWeb(() => undefined);
    expect(await gym(`${web}/none.jsonl`)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("404"),
    });
    expect(await gym()).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("no directory 'results' here"),
    });
    expect(await gym("*.json")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("No file matches"),
    });
    expect(await gym("a.jsonl", "--where", "rewrd<1")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("Did you mean 'reward'?"),
    });
    expect(await gym(".", "--to-html", "x.html")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("3 runs were found"),
    });
    expect(await gym("a.jsonl", "--port", "99999")).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("at most 65535"),
    });
  });

  it("opens directories, patterns and two runs", async () => {
    const run = (task: number) => lines([rollout(task, 0, "yes")]);
    const cwd = await project({
      "results/a/rollouts.jsonl": run(1),
      "results/b/2026/rollouts.jsonl": run(2),
      "results/b/2026/rollouts_manifest.json": "{}",
      // A file named like rollouts is a run; a dataset next to it is not.
      "results/c/data/example_rollouts.jsonl": run(9),
      "results/c/data/example.jsonl": run(9),
      "x1.jsonl": run(3),
      "x2.jsonl": run(4),
    });
    const ids = async (...words: string[]) => {
      const viewer = await startViewer(["eval", "view", ...words, "--port", "0", "--json"], cwd);
      const { runs } = await ask<{ runs: { id: string }[] }>(viewer, "runs");
      return { viewer, ids: runs.map(({ id }) => id).sort() };
    };
    // The default is `results`.
    expect((await ids()).ids).toEqual(["a", "b/2026", "c/data/example_rollouts"]);
    expect((await ids("x*.jsonl")).ids).toEqual(["x1", "x2"]);
    const two = await ids("x1.jsonl", "results/a");
    expect(two.ids).toEqual(["results/a", "x1"]);
    expect(two.viewer.url).toContain("#/compare?runs=x1,results%2Fa");
    // The first one is the baseline, regardless of the age of the files.
    const three = await ids("x2.jsonl", "x1.jsonl", "results/a");
    expect(three.viewer.url).toContain("#/compare?runs=x2,x1,results%2Fa");
    const words = ["a", "b", "c", "d", "e", "f", "g.jsonl"];
    expect(await runGym(["eval", "view", ...words], { cwd })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("gym eval view: error: at most 6 runs can be compared, not 7"),
    });
  });

  it("opens web addresses and compressed files from temporary copies", async () => {
    const run = (task: number) => lines([rollout(task, 0, "yes")]);
    const cwd = await project({ "mine/rollouts.jsonl.gz": gzipSync(run(6)) });
    const web = await startWeb((name) =>
      name === "/a/run.jsonl" ? run(4) : name === "/b/run.jsonl" ? run(5) : gzipSync(run(7)),
    );
    const open = async (...words: string[]) => {
      const viewer = await startViewer(["eval", "view", ...words, "--port", "0", "--json"], cwd);
      const { runs } = await ask<{ runs: { id: string; path: string }[] }>(viewer, "runs");
      return { viewer, runs: runs.map(({ id, path: from }) => ({ id, from })) };
    };
    // Two files with the same name are two runs.
    const both = await open(`${web}/a/run.jsonl`, `${web}/b/run.jsonl`);
    expect(both.runs).toHaveLength(2);
    for (const [place, task] of [
      ["a", 4],
      ["b", 5],
    ] as const) {
      const id = both.runs.find(({ from }) => from === `${web}/${place}/run.jsonl`)?.id ?? "";
      const address = `tasks?run=${encodeURIComponent(id)}`;
      await eventually(async () => await ask(both.viewer, address)).toMatchObject({ tasks: [{ task }] });
    }
    for (const [name, from, task] of [
      ["mine/rollouts.jsonl.gz", path.join(cwd, "mine/rollouts.jsonl.gz"), 6],
      // Signatures of an address are not shown.
      [`${web}/other.jsonl.gz?signature=abc`, `${web}/other.jsonl.gz`, 7],
    ] as const) {
      const { viewer, runs } = await open(name);
      expect(JSON.parse(viewer.output())).toMatchObject({ file: from });
      expect(runs).toEqual([{ id: task === 6 ? "mine" : "other", from }]);
      await eventually(async () => await ask(viewer, "tasks")).toMatchObject({ tasks: [{ task }] });
      // Annotations of a copy would be removed with it.
      expect(await ask(viewer, "status")).toMatchObject({ can_annotate: false });
      const end = ended(viewer.child);
      viewer.child.kill("SIGINT");
      expect(await end).toBe(0);
    }
  });

  it("writes chosen rollouts as one page, and a run as a folder", async () => {
    const cwd = await project({
      "run.jsonl": lines([rollout(0, 0, "yes"), rollout(0, 1, "no", { reward: 0 })]),
    });
    const view = (...words: string[]) => runGym(["eval", "view", "run.jsonl", ...words], { cwd });
    expect(await view("--where", "reward<1", "--to-html", "bad.html")).toMatchObject({
      exitCode: 0,
      stdout: "1 rollouts: bad.html\n",
    });
    expect(await readFile(path.join(cwd, "bad.html"), "utf8")).toContain('id="embedded-run"');
    expect(await view("--where", "reward>1", "--to-html", "none.html")).toMatchObject({ exitCode: 2 });
    const folder = await view("--to-folder", "site", "--json");
    expect(JSON.parse(folder.stdout)).toMatchObject({ rows: 2, folder: path.join(cwd, "site") });
    expect(await readFile(path.join(cwd, "site/data/rows/rollouts-2.js"), "utf8")).toContain(
      '\\"reward\\":0',
    );
    expect(await view("--to-folder", "site")).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("is not empty"),
    });
  });
});
