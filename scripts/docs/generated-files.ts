import { readFile } from "node:fs/promises";
import path from "node:path";
import { program } from "../../src/cli/commands/table.ts";
import { legacyNames, legacyPrefixes } from "../../src/cli/legacy.ts";
import { installRoot } from "../../src/config/paths.ts";
import { certifiedReadmes } from "./certificate-sections.ts";
import { cliPage } from "./cli-page.ts";
import { configKeysPage } from "./config-keys-page.ts";
import { errorsPage } from "./errors-page.ts";

export const repositoryRoot = installRoot();

/** The expected content of every generated file. */
export async function generatedFiles(): Promise<{ file: string; text: string }[]> {
  return [
    { file: "docs/reference/cli.md", text: cliPage(program) },
    { file: "docs/reference/config-keys.md", text: configKeysPage() },
    { file: "docs/reference/errors.md", text: await errorsPage() },
    { file: "package.json", text: await packageFile() },
    ...certifiedReadmes(repositoryRoot),
  ];
}

/** package.json with a `bin` entry for the program and for each older name whose command exists. */
async function packageFile(): Promise<string> {
  const text = await readFile(path.join(repositoryRoot, "package.json"), "utf8");
  const bin: Record<string, string> = { gym: "bin/gym.js", ng: "bin/gym.js" };
  for (const name of [...legacyNames(program).keys()].sort()) {
    for (const prefix of legacyPrefixes) bin[prefix + name] = "bin/legacy.js";
  }
  return `${JSON.stringify({ ...JSON.parse(text), bin }, undefined, 2)}\n`;
}
