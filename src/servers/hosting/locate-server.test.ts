import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { locateServer } from "./locate-server.ts";

const root = mkdtempSync(join(tmpdir(), "gym-locate-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const folder = (implementation: string, ...files: string[]) => {
  const directory = join(root, "resources_servers", implementation);
  mkdirSync(directory, { recursive: true });
  for (const file of files) writeFileSync(join(directory, file), "");
  return directory;
};
const locate = (implementation: string, entrypoint: string) =>
  locateServer({ name: "kiln", type: "resources_servers", implementation, entrypoint }, [root]);

it("finds the file of an entrypoint under another extension", () => {
  const directory = folder("twins", "app.ts", "serve.js");
  expect(locate("twins", "app.py")).toMatchObject({ entry: join(directory, "app.ts"), language: "node" });
  expect(locate("twins", "serve.py").entry).toBe(join(directory, "serve.js"));
  expect(locate("twins", "serve.ts").entry).toBe(join(directory, "serve.js"));
});

it("prefers the named file", () => {
  const directory = folder("both", "app.py", "app.ts");
  expect(locate("both", "app.py")).toMatchObject({ entry: join(directory, "app.py"), language: "python" });
});

it("rejects a missing entry file and names the most similar one", () => {
  folder("one", "app.ts", "app.test.ts", "server.ts");
  expect(() => locate("one", "nope.ts")).toThrow(
    /'kiln' needs its entrypoint 'nope\.ts'.*`entrypoint: app\.ts`/s,
  );
  expect(() => locate("one", "sever.ts")).toThrow("`entrypoint: server.ts`");
  expect(() => locate("one", "nope.py")).toThrow("'nope.py' (or 'nope.ts')");
});

it("distinguishes a missing folder from a missing file", () => {
  expect(() => locate("none", "app.ts")).toThrow(/needs a folder resources_servers\/none.*--search-dir DIR/s);
  expect(() => locate("one", "../app.ts")).toThrow("must be a path inside");
  expect(() => locate("../../one", "app.ts")).toThrow("must be the name of a folder of resources_servers");
});
