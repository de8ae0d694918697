import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CliProgram, defineCommand } from "../command.ts";
import { configFlag, searchDirFlag, selectorFlags, serverFolderFlag } from "../flags.ts";
import { completionScript, type Shell } from "./script.ts";

const run = async () => 0;
const program: CliProgram = {
  groups: [
    { name: "env", summary: "develop environments" },
    { name: "empty", summary: "nothing works yet" },
  ],
  commands: [
    defineCommand({
      words: "env start",
      summary: "it's the start",
      flags: {
        ...configFlag,
        ...selectorFlags,
        ...searchDirFlag,
        storage: { kind: "text", short: "s", choices: ["hf", "gitlab"], help: "where" },
        json: { kind: "switch", help: "print JSON" },
      },
      run,
    }),
    defineCommand({ words: "env status", summary: "show", flags: serverFolderFlag, run }),
    defineCommand({
      words: "env audit",
      summary: "look",
      flags: { reuse: { kind: "text", completes: ["resources_servers"], help: "a verifier" } },
      positionals: { NAME: { completes: ["resources_servers", "environments"], help: "what" } },
      run,
    }),
    defineCommand({
      words: "env head",
      summary: "show",
      flags: {},
      positionals: { FILE: { completes: "file", help: "a file" } },
      run,
    }),
    defineCommand({
      words: "completion",
      summary: "print a script",
      flags: {},
      positionals: { SHELL: { help: "the shell", choices: ["bash", "zsh", "fish"] } },
      run,
    }),
  ],
};

let directory = "";
beforeAll(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "completion it's-"));
  for (const name of [
    "install/resources_servers/mcqa",
    "install/resources_servers/maths",
    "resources_servers/maths",
    "environments/meadow",
    "extra/resources_servers/mazes",
  ]) {
    mkdirSync(path.join(directory, name), { recursive: true });
  }
  mkdirSync(path.join(directory, "configs"));
  writeFileSync(path.join(directory, "model.yaml"), "");
  writeFileSync(path.join(directory, "my model.yaml"), "");
});
afterAll(() => rmSync(directory, { recursive: true }));

const script = (shell: Shell) => completionScript(shell, program, path.join(directory, "install"));

function shell(name: Shell, argv: string[]): string[] {
  const env = { ...process.env, NEMO_GYM_EXTRA_ROOTS: path.join(directory, "extra"), HOME: directory };
  const { stdout, stderr, status } = spawnSync(name, argv, { cwd: directory, env, encoding: "utf8" });
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  return stdout.split("\n").filter(Boolean).sort();
}

/** Sets the words as readline would, with `--flag=value` split at the sign. */
async function bash(...words: string[]): Promise<string[]> {
  const split = words.flatMap((word) =>
    word.split(/(=)/).filter((part, _index, all) => part !== "" || all.length === 1),
  );
  const quoted = split.map((word) => `'${word}'`).join(" ");
  const test = `
    COMP_WORDS=(gym ${quoted}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
    _gym_complete; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return shell("bash", ["--norc", "-c", (await script("bash")) + test]);
}

describe("completion in bash", () => {
  it("offers groups, commands and the choices of a command", async () => {
    expect(await bash("")).toEqual(["completion", "env"]);
    expect(await bash("e")).toEqual(["env"]);
    expect(await bash("env", "st")).toEqual(["start", "status"]);
    expect(await bash("completion", "z")).toEqual(["zsh"]);
    expect(await bash("empty", "")).toEqual(["completion", "env"]);
  });

  it("offers the flags of the current command", async () => {
    expect(await bash("--v")).toEqual(["--verbose", "--version"]);
    expect(await bash("env", "-")).toEqual(["--help", "-h"]);
    expect(await bash("env", "start", "--s")).toEqual(["--search-dir", "--storage"]);
    expect(await bash("env", "start", "--json", "--config", "a.yaml", "+x=1", "--m")).toEqual([
      "--model-type",
    ]);
  });

  it("offers choices, files, directories and components", async () => {
    expect(await bash("env", "start", "--storage", "")).toEqual(["gitlab", "hf"]);
    expect(await bash("env", "start", "-s", "g")).toEqual(["gitlab"]);
    expect(await bash("env", "start", "--storage=")).toEqual(["gitlab", "hf"]);
    expect(await bash("env", "start", "--storage=g")).toEqual(["gitlab"]);
    expect(await bash("env", "start", "--config", "mod")).toEqual(["model.yaml"]);
    expect(await bash("env", "start", "--config", "my")).toEqual(["my model.yaml"]);
    expect(await bash("env", "start", "--search-dir", "con")).toEqual(["configs"]);
    expect(await bash("env", "start", "--resources-server", "m")).toEqual(["maths", "mazes", "mcqa"]);
    expect(await bash("env", "status", "--resources-server", "mc")).toEqual(["mcqa"]);
    // The install root has one too: it is still one choice.
    expect(await bash("env", "status", "--resources-server", "mat")).toEqual(["maths"]);
  });

  it("offers the values of a positional word", async () => {
    expect(await bash("env", "audit", "m")).toEqual(["maths", "mazes", "mcqa", "meadow"]);
    expect(await bash("env", "audit", "--reuse", "m")).toEqual(["maths", "mazes", "mcqa"]);
    expect(await bash("env", "audit", "-")).toContain("--reuse");
    expect(await bash("env", "head", "mod")).toEqual(["model.yaml"]);
  });

  it("does not mistake the value of a flag for a command", async () => {
    expect(await bash("env", "start", "--config", "status", "--st")).toEqual(["--storage"]);
  });
});

const installed = (name: Shell) => spawnSync(name, ["-c", "true"]).status === 0;

describe("completion in other shells", () => {
  it("is generated for each shell", async () => {
    expect(await script("zsh")).toMatch(/^#compdef gym ng\n/);
    expect(await script("zsh")).toContain(String.raw`'start:it'\''s the start'`);
    expect(await script("fish")).toContain(
      "complete -c $program -n '__gym_at \"env start\"' -l storage -s s -x -a 'hf gitlab'",
    );
  });

  if (installed("zsh")) {
    it("is accepted by zsh", async () => {
      shell("zsh", ["-f", "-c", `autoload -U compinit; compinit -u -D; ${await script("zsh")}`]);
    });
  }

  if (installed("fish")) {
    const fish = async (line: string) => {
      const offers = shell("fish", [
        "--no-config",
        "-c",
        `${await script("fish")}\ncomplete -C ${JSON.stringify(line)}`,
      ]);
      return offers.map((offer) => offer.split("\t")[0]);
    };

    it("works in fish", async () => {
      expect(await fish("gym ")).toEqual(["completion", "env"]);
      expect(await fish("gym env st")).toEqual(["start", "status"]);
      expect(await fish("gym env start --st")).toEqual(["--storage"]);
      expect(await fish("gym env start --storage ")).toEqual(["gitlab", "hf"]);
      expect(await fish("gym env start --resources-server m")).toEqual(["maths", "mazes", "mcqa"]);
      expect(await fish("gym env audit m")).toEqual(["maths", "mazes", "mcqa", "meadow"]);
      expect(await fish("gym env head mod")).toEqual(["model.yaml"]);
      expect(await fish("gym env start --search-dir con")).toEqual(["configs/"]);
      expect(await fish("gym env start --config mod")).toEqual(["model.yaml"]);
    });
  }
});
