import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  candidatePaths,
  findExistingPath,
  findPath,
  findServerDirectory,
  installRoot,
  outputPath,
  searchRoots,
  workingRoot,
} from "./paths.ts";

let base: string;
const touch = (file: string) => {
  mkdirSync(path.dirname(path.join(base, file)), { recursive: true });
  writeFileSync(path.join(base, file), "");
};

beforeEach(() => {
  base = realpathSync(mkdtempSync(path.join(tmpdir(), "gym-paths-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("searchRoots", () => {
  it("lists extra roots, the working directory and the install root, without repeats", () => {
    for (const name of ["one", "two", "work", "install"]) mkdirSync(path.join(base, name));
    symlinkSync(path.join(base, "one"), path.join(base, "link"));
    const env = {
      NEMO_GYM_EXTRA_ROOTS: ["", path.join(base, "one"), "../link", "../two"].join(path.delimiter),
    };
    expect(
      searchRoots({ env, cwd: path.join(base, "work"), installRoot: path.join(base, "install") }),
    ).toEqual(["one", "two", "work", "install"].map((name) => path.join(base, name)));
  });
});

describe("searchRoots of installed packages", () => {
  const write = (file: string, value: unknown) => {
    touch(file);
    writeFileSync(path.join(base, file), JSON.stringify(value));
  };
  const roots = () => searchRoots({ env: {}, cwd: base, installRoot: "/install" });

  it("come after the project, and only from dependencies with the key", () => {
    write("package.json", {
      dependencies: { "sql-envs": "1", zod: "4" },
      devDependencies: { "@acme/envs": "1" },
    });
    write("node_modules/sql-envs/package.json", { "nemo-gym": { roots: ["."] } });
    write("node_modules/@acme/envs/package.json", { "nemo-gym": { roots: ["gym", "extra"] } });
    write("node_modules/zod/package.json", { name: "zod" });
    write("node_modules/stranger/package.json", { "nemo-gym": { roots: ["."] } });
    const modules = path.join(base, "node_modules");
    const found = ["sql-envs", "@acme/envs/gym", "@acme/envs/extra"].map((name) => path.join(modules, name));
    expect(roots()).toEqual([base, ...found, "/install"]);
  });

  it("are none in a project without a readable package.json", () => {
    expect(roots()).toEqual([base, "/install"]);
    touch("package.json");
    expect(roots()).toEqual([base, "/install"]);
  });
});

describe("findPath", () => {
  it("returns the first existing path, or the path in the first root", () => {
    touch("b/x.yaml");
    const roots = [path.join(base, "a"), path.join(base, "b")];
    expect(findPath("x.yaml", roots)).toBe(path.join(base, "b/x.yaml"));
    expect(findPath("y.yaml", roots)).toBe(path.join(base, "a/y.yaml"));
    expect(findExistingPath("y.yaml", roots)).toBeUndefined();
    expect(findPath("/abs/y.yaml", roots)).toBe("/abs/y.yaml");
    expect(candidatePaths("y.yaml", roots)).toHaveLength(2);
  });

  it("follows renamed components, but prefers an existing path with the old name", () => {
    touch("resources_servers/example_multi_step/configs/example_multi_step.yaml");
    const old = "resources_servers/multineedle/configs/multineedle.yaml";
    expect(findPath(old, [base])).toBe(
      path.join(base, "resources_servers/example_multi_step/configs/example_multi_step.yaml"),
    );
    touch(old);
    expect(findPath(old, [base])).toBe(path.join(base, old));
  });
});

describe("findServerDirectory", () => {
  it("requires a server, follows old names, and stays in the directory of the type", () => {
    mkdirSync(path.join(base, "a/resources_servers/quiz"), { recursive: true });
    touch("b/resources_servers/quiz/app.ts");
    touch("b/resources_servers/example_multi_step/app.py");
    touch("b/secret/app.ts");
    const roots = [path.join(base, "a"), path.join(base, "b")];
    expect(findServerDirectory("resources_servers", "quiz", roots)).toBe(
      path.join(base, "b/resources_servers/quiz"),
    );
    expect(findServerDirectory("resources_servers", "multineedle", roots)).toBe(
      path.join(base, "b/resources_servers/example_multi_step"),
    );
    expect(findServerDirectory("resources_servers", "../secret", roots)).toBeUndefined();
    expect(findServerDirectory("resources_servers", "", roots)).toBeUndefined();
  });
});

describe("roots of the package", () => {
  it("finds its own package.json", () => {
    expect(installRoot()).toBe(path.resolve(import.meta.dirname, "../.."));
  });

  it("writes into the checkout of a source install and into the working directory of a package install", () => {
    expect(workingRoot("/project", "/src/nemo-gym")).toBe("/src/nemo-gym");
    expect(workingRoot("/project", "/project/node_modules/nemo-gym")).toBe("/project");
  });
});

describe("outputPath", () => {
  it("writes files of a renamed component to its current folder", () => {
    const old = "resources_servers/multineedle/data/out.jsonl";
    expect(outputPath(old, base)).toBe(path.join(base, old));
    touch("resources_servers/example_multi_step/app.ts");
    expect(outputPath(old, base)).toBe(
      path.join(base, "resources_servers/example_multi_step/data/out.jsonl"),
    );
    touch("resources_servers/multineedle/app.ts");
    expect(outputPath(old, base)).toBe(path.join(base, old));
    expect(outputPath("data/out.jsonl", base)).toBe(path.join(base, "data/out.jsonl"));
  });
});
