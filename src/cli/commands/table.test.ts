import { describe, expect, it } from "vitest";
import { captureRun } from "../../../tests/support/captured-run.ts";
import { keysInUse } from "../../config/reserved-keys.ts";
import { commonFlags } from "../arguments.ts";
import type { Flag } from "../command.ts";
import { legacyNames } from "../legacy.ts";
import { program } from "./table.ts";

describe("the table of commands", () => {
  const { commands } = program;

  it("has each command, short flag and older name once", () => {
    const words = commands.map((command) => command.words);
    expect(new Set(words).size).toBe(words.length);
    const older = commands.flatMap(({ legacy }) => (legacy ?? []).map((name) => name.split(" ")[0]));
    expect(new Set(older).size).toBe(older.length);
    expect(legacyNames(program).size).toBe(older.length + 2);
    for (const command of commands) {
      const flags = Object.entries<Flag>({ ...commonFlags, ...command.flags });
      const shorts = flags.map(([, { short }]) => short).filter((short) => short !== undefined);
      expect(new Set(shorts).size, command.words).toBe(shorts.length);
    }
  });

  it("puts every command into a group that exists", () => {
    const groups = new Set([undefined, ...program.groups.map(({ name }) => name)]);
    expect(commands.filter(({ group }) => !groups.has(group))).toEqual([]);
  });

  it("has a suitable kind for every flag that sets a key", () => {
    for (const { flags } of commands) {
      for (const [name, flag] of Object.entries(flags)) {
        if (flag.kind === "selector") expect(flag.selector, name).toBeDefined();
        if (flag.sets !== undefined) expect(["switch", "selector"], name).toContain(flag.kind);
        if (flag.sets !== undefined) expect(flag.key, name).toBeDefined();
        if (flag.prefix !== undefined) expect(flag.kind, name).toBe("text");
        expect(flag.help, name).toMatch(/^\S.*[^.]$/);
      }
    }
  });

  it("has only keys that the config knows as keys of commands", () => {
    const read = commands.flatMap(({ flags, positionals, keys, keysFor }) => [
      ...Object.values(flags).flatMap(({ key }) => key ?? []),
      ...Object.values(positionals ?? {}).flatMap(({ key }) => key ?? []),
      ...Object.keys(keys ?? keysFor?.({}) ?? {}),
    ]);
    const unknown = read
      .map((key) => String(key).split(".")[0] ?? "")
      .filter((key) => !keysInUse.includes(key));
    expect(unknown, "add them to commandKeys in src/config/reserved-keys.ts").toEqual([]);
  });

  for (const command of commands) {
    const words = command.words.split(" ");
    it(`shows the help of ${words.join(" ")}`, async () => {
      const { exitCode, stdout, stderr } = await captureRun([...words, "--help"]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toContain(`usage: gym ${words.join(" ")} [-h] [-v]`);
      for (const name of Object.keys(command.flags)) expect(stdout).toContain(`--${name}`);
    });
  }
});
