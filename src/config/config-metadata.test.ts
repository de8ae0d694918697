import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readConfigMetadata, resolveLeniently } from "./config-metadata.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(path.join(tmpdir(), "gym-metadata-"));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = path.join(base, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

const options = () => ({ cwd: base, env: {}, installRoot: base });

describe("readConfigMetadata", () => {
  it("prefers the file itself and its resources servers", () => {
    const file = write(
      "a.yaml",
      "x:\n  responses_api_agents:\n    w: {entrypoint: app.py, description: agent}\n  resources_servers:\n    o: {domain: games, description: tools, value: fun}\n",
    );
    expect(readConfigMetadata(file, options())).toEqual({
      domain: "games",
      description: "tools",
      value: "fun",
    });
  });

  it("reads the rest from includes, also if they are incomplete", () => {
    write(
      "inner.yaml",
      "s:\n  resources_servers:\n    o:\n      entrypoint: app.py\n      domain: math\n      url: ${nowhere}\n      key: ???\n",
    );
    const file = write(
      "b.yaml",
      "config_paths: [inner.yaml]\nt: {_inherit_from: s}\nu:\n  resources_servers:\n    o: {description: own}\n",
    );
    expect(readConfigMetadata(file, options())).toEqual({ domain: "math", description: "own" });
  });

  it("returns nothing for files that cannot be read", () => {
    expect(readConfigMetadata(write("bad.yaml", "a: [\n"), options())).toEqual({});
    expect(readConfigMetadata(path.join(base, "nope.yaml"), options())).toEqual({});
    expect(readConfigMetadata(write("c.yaml", "config_paths: [gone.yaml]\n"), options())).toEqual({});
  });
});

describe("resolveLeniently", () => {
  it("returns the servers of an incomplete config", () => {
    const file = write(
      "d.yaml",
      "m:\n  responses_api_models:\n    p: {entrypoint: app.py, url: '${policy_base_url}', other: '${nowhere}', names: ['${x}']}\nunset: ???\n",
    );
    const config = resolveLeniently(file, options());
    expect(config.servers.map(({ name }) => name)).toContain("m");
    expect(config.get("m.responses_api_models.p")).toMatchObject({
      url: "",
      other: "(not set)",
      names: ["(not set)"],
    });
    expect(config.get("unset")).toBe("(not set)");
  });
});
