import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { shellCommand } from "./shell-command.ts";

const run = (script: string, stdin?: string) => {
  const command = shellCommand("/bin/sh", script, stdin);
  const [program = "", ...args] = command.argv;
  return execFileSync(program, args, { input: command.stdin ?? "", encoding: "utf8" });
};

describe("shellCommand", () => {
  const long = `: ${"'it'".repeat(100_000)}\n`;

  it("runs scripts of any length, with an empty standard input", () => {
    expect(run("echo $0; cat")).toBe("/bin/sh\n");
    expect(run(`${long}echo $0; cat; echo "end"`)).toBe("/bin/sh\nend\n");
  });

  it("keeps the given standard input", () => {
    expect(run("cat", "given")).toBe("given");
  });
});
