import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { loadWebFiles } from "../../src/viewer/web-files.ts";
import { project, repository } from "../gym-process.ts";
import { eventually, lines, rollout, startViewer } from "./support.ts";

/** Sends bytes unchanged and returns the status line of the answer. */
function statusOf(base: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let answer = "";
    socket.setEncoding("latin1").on("data", (chunk: string) => {
      answer += chunk;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(answer.split("\r\n")[0] ?? ""));
  });
}

async function viewed(...words: string[]) {
  const cwd = await project({ "run.jsonl": lines([rollout(0, 0, "yes")]) });
  return startViewer(["eval", "view", "run.jsonl", "--port", "0", ...words], cwd);
}

it("serves pages without libraries that only servers need", async () => {
  const files = await loadWebFiles(path.join(repository, "dist/viewer"));
  const scripts = [...files].filter(([address]) => address.endsWith(".js"));
  expect(scripts).toHaveLength(1);
  for (const [, { content, gzip }] of scripts) {
    expect(content.includes("ZodError")).toBe(false);
    expect(gzip.length).toBeLessThan(300_000);
  }
});

describe("requests to the viewer", () => {
  it("get 431 and 400 if they are too large or not HTTP, and the viewer continues to serve", async () => {
    const { base, token } = await viewed("--json");
    const { host } = new URL(base);
    const close = `Host: ${host}\r\nConnection: close\r\n`;
    const big = "x".repeat(20_000);
    for (const [status, bytes] of [
      [431, `GET /api/status HTTP/1.1\r\n${close}X-Big: ${big}\r\n\r\n`],
      [431, `GET /api/status?q=${big} HTTP/1.1\r\n${close}\r\n`],
      [400, "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"],
      [400, "NONSENSE\r\n\r\n"],
      [400, `GET /api/status HTTP/1.1\r\n${close}Content-Length: -1\r\n\r\n`],
      [400, `POST /api/annotate HTTP/1.1\r\n${close}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ] as const)
      expect([bytes.slice(0, 60), await statusOf(base, bytes)]).toEqual([
        bytes.slice(0, 60),
        expect.stringContaining(`HTTP/1.1 ${status} `),
      ]);
    const answer = await fetch(`${base}api/status`, { headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
  });
});

describe.skipIf(process.platform !== "linux")("gym eval view --open", () => {
  /** A viewer whose PATH has a replacement for xdg-open. */
  async function opened(script: string | undefined) {
    const cwd = await project({ "run.jsonl": lines([rollout(0, 0, "yes")]) });
    const bin = path.join(cwd, "bin");
    await mkdir(bin);
    if (script !== undefined) {
      await writeFile(path.join(bin, "xdg-open"), script);
      await chmod(path.join(bin, "xdg-open"), 0o755);
    }
    const words = ["eval", "view", "run.jsonl", "--port", "0", "--open", "--where", "reward<1 & 'x'"];
    return { cwd, viewer: await startViewer(words, cwd, { env: { PATH: bin } }) };
  }

  it("opens the address in the default browser, with a one-time token and without a shell", async () => {
    const { cwd, viewer } = await opened(
      '#!/bin/sh\nprintf "%s\\n" "$#" "$1" > opened.tmp\n/bin/mv opened.tmp opened\n',
    );
    const words = () => readFile(path.join(cwd, "opened"), "utf8").catch(() => "");
    await eventually(words).not.toBe("");
    const [count, address = ""] = (await words()).split("\n");
    expect(count).toBe("1");
    const { origin, searchParams, hash } = new URL(address);
    expect(`${origin}/`).toBe(viewer.base);
    expect(hash).toBe(new URL(viewer.url).hash);
    // Other users can see the arguments of a program, so the token must be useless after the browser has used it.
    expect(searchParams.get("token")).not.toBe(viewer.token);
    const first = await fetch(address);
    const cookie = first.headers.get("set-cookie")?.split(";")[0] ?? "";
    expect(cookie).toContain(viewer.token);
    expect((await fetch(`${viewer.base}api/status`, { headers: { cookie } })).status).toBe(200);
    expect((await fetch(address)).headers.get("set-cookie")).toBeNull();
    expect((await fetch(`${viewer.base}api/status${new URL(address).search}`)).status).toBe(401);
  });

  it.each([
    ["is missing", undefined, /spawn xdg-open ENOENT/],
    ["finds no browser", "#!/bin/sh\nexit 3\n", /xdg-open ended with code 3/],
  ])("prints one line when xdg-open %s, and continues to serve", async (_, script, reason) => {
    const { viewer } = await opened(script);
    await eventually(viewer.output).toMatch(/No browser was opened: .*\n/);
    const told = viewer
      .output()
      .split("\n")
      .filter((line) => line.includes("No browser"));
    expect(told).toEqual([expect.stringMatching(reason)]);
    expect(told[0]).toContain(`Open ${viewer.url} yourself.`);
    const headers = { authorization: `Bearer ${viewer.token}` };
    expect((await fetch(`${viewer.base}api/status`, { headers })).status).toBe(200);
  });
});
