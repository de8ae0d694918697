import { expect, it } from "vitest";
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
] as const)("refuses what it could never open: %s", (kind, sources) => {
  for (const source of sources) expect(() => files(kind, source), source).toThrow(ScaffoldError);
});
