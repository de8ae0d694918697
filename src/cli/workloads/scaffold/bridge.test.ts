import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { ScaffoldError } from "../errors.ts";
import { bridgeFiles } from "./bridge.ts";

const files = (kind: string, source: string) => bridgeFiles({ kind, source, name: "x" }, "/").files;

it.each([
  ["verifiers", ["sums", "my-sums", "my_package.sums", "owner/sums@0.1.0"]],
  ["aviary", ["dummy", "gsm8k", "my_package.tasks:StoryDataset"]],
] as const)("takes what the other library can open: %s", (kind, sources) => {
  for (const source of sources)
    expect(files(kind, source)["environments/x/config.yaml"]).toContain(JSON.stringify(source));
});

it.each([
  ["verifiers", ["", "bad module!;rm", "../../x", "/etc", "a..b", "1sums", "sums\n"]],
  ["aviary", ["", ":Class", "../../x", "module:", "a b", "my-module:Class", "a:B:C"]],
  ["openenv", ["", "127.0.0.1:8000", "ftp://x", "http:///"]],
] as const)("rejects what it could never open: %s", (kind, sources) => {
  for (const source of sources) expect(() => files(kind, source), source).toThrow(ScaffoldError);
});

it("leaves multi-step tasks of Harbor out, and says so", () => {
  const cwd = mkdtempSync(path.join(tmpdir(), "nemo-gym-bridge-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const add = (file: string) => {
    mkdirSync(path.dirname(path.join(cwd, "tasks", file)), { recursive: true });
    writeFileSync(path.join(cwd, "tasks", file), "");
  };
  for (const file of ["two/task.toml", "two/steps/a/instruction.md"]) add(file);
  const source = { kind: "harbor", source: "tasks", name: "x" };
  expect(() => bridgeFiles(source, cwd)).toThrow("multi-step tasks are not supported: two");
  for (const file of ["one/task.toml", "one/instruction.md", "one/tests/test.sh"]) add(file);
  const warnings: string[] = [];
  const { files } = bridgeFiles(source, cwd, (text) => warnings.push(text));
  expect(files["environments/x/data/example.jsonl"]?.trim().split("\n")).toHaveLength(1);
  expect(warnings).toEqual(["1 of 2 tasks are left out: multi-step tasks are not supported: two."]);
});
