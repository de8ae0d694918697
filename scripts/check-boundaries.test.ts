import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, expect, it } from "vitest";

const script = path.join(import.meta.dirname, "check-boundaries.mjs");
const created: string[] = [];
afterEach(() => {
  for (const directory of created.splice(0)) rmSync(directory, { recursive: true });
});

function check(files: Record<string, string>) {
  const root = mkdtempSync(path.join(os.tmpdir(), "boundaries-"));
  created.push(root);
  for (const [file, text] of Object.entries({ "src/cli/process.ts": "", ...files })) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  const { status, stderr } = spawnSync(process.execPath, [script, root], { encoding: "utf8" });
  return { status, problems: stderr.trim().split("\n").filter(Boolean) };
}

it("accepts imports from lower rooms", () => {
  const files = {
    "src/config/a.ts":
      'import { x } from "../base/python/door.ts";\nimport type { y } from "../base/errors.ts";\n',
    "src/cli/run.ts": 'import { resolve } from "../config/light-door.ts";\n',
    "src/config/a.test.ts": 'import { z } from "../testing/z.ts";\n',
  };
  expect(check(files)).toEqual({ status: 0, problems: [] });
});

it("rejects all other imports, including types and import()", () => {
  const { status, problems } = check({
    "src/config/a.ts": 'import type { x } from "../wire/x.ts";\n',
    "src/servers/hosting/b.ts": 'export const load = () => import("../../run/b.ts");\n',
    "src/run/c.ts": 'export {\n  d,\n} from "../cli/d.ts";\n',
  });
  expect(status).toBe(1);
  expect(problems).toEqual([
    "src/config/a.ts: imports src/wire/x.ts, but config may not import from wire",
    "src/run/c.ts: imports src/cli/d.ts, but run may not import from cli",
    "src/servers/hosting/b.ts: imports src/run/b.ts, but servers may not import from run",
  ]);
});

it("requires doors between rooms, but not in tests", () => {
  const { problems } = check({
    "src/cli/a.ts":
      'import type { x } from "../config/x.ts";\nimport { E } from "../config/errors.ts";\nimport { p } from "../config/paths.ts";\n',
    "src/cli/b.ts":
      'import { y } from "./parts/y.ts";\nimport { F } from "../config/yaml/errors.ts";\nexport { z } from "../config/yaml/index.ts";\n',
    "src/cli/a.test.ts": 'import { x } from "../config/x.ts";\n',
  });
  expect(problems).toEqual([
    "src/cli/a.ts: imports src/config/x.ts, which is not a door of config; import from a door.ts of config",
    "src/cli/b.ts: imports src/config/yaml/errors.ts, which is not a door of config; import from a door.ts of config",
  ]);
});

it("rejects heavy modules in the start of the command line", () => {
  const { problems } = check({
    "src/cli/process.ts": 'import { a } from "./a.ts";\nimport fs from "node:fs";\n',
    "src/cli/a.ts":
      'import type { T } from "zod";\nimport { type R, type S } from "../config/door.ts";\nimport { z } from "zod";\nimport { c } from "../config/light-door.ts";\n',
  });
  expect(problems).toEqual([
    "src/cli/a.ts: loads zod at the start of every command; import it inside run()",
    "src/cli/a.ts: loads src/config/light-door.ts at the start of every command; import it inside run()",
  ]);
});

it("requires servers to import the package by its name", () => {
  const { problems } = check({
    "resources_servers/quiz/app.ts": 'import { x } from "../../src/index.ts";\n',
  });
  expect(problems).toEqual([
    'resources_servers/quiz/app.ts: imports src/index.ts; import it from "nemo-gym"',
  ]);
});

it("rejects imports between servers, but allows shared libraries", () => {
  const { problems } = check({
    "resources_servers/quiz/app.ts":
      'import { a } from "../mcqa/grade.ts";\nimport { b } from "../../libraries/choice/b.ts";\n',
    "resources_servers/quiz/parts/own.ts": 'import { c } from "../app.ts";\n',
    "resources_servers/quiz/app.test.ts": 'import other from "../mcqa/app.ts";\n',
    "libraries/choice/b.ts": 'import { d } from "../text/d.ts";\n',
  });
  expect(problems).toEqual([
    "resources_servers/quiz/app.ts: imports resources_servers/mcqa/grade.ts; move what both use to libraries/",
    "libraries/choice/b.ts: imports libraries/text/d.ts; move what both use to libraries/",
  ]);
});

it("rejects unknown folders", () => {
  const { problems } = check({ "src/helpers/a.ts": 'import { b } from "../base/door.ts";\n' });
  expect(problems).toEqual([
    "src/helpers/a.ts: helpers is not a room of the table in scripts/check-boundaries.mjs",
  ]);
});

it("has the same public entries in tsconfig.json and package.json", () => {
  const read = (file: string) => JSON.parse(readFileSync(path.join(import.meta.dirname, "..", file), "utf8"));
  const { exports: entries } = read("package.json");
  const expected = Object.entries<string | { default: string }>(entries).flatMap(([name, target]) =>
    typeof target === "string"
      ? []
      : [[`nemo-gym${name.slice(1)}`, [target.default.replace("./dist/", "./").replace(/\.js$/, ".ts")]]],
  );
  expect(read("tsconfig.json").compilerOptions.paths).toEqual(Object.fromEntries(expected));
});
