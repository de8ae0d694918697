import type { CliProgram } from "../command.ts";
import { bashScript } from "./bash.ts";
import { fishScript } from "./fish.ts";
import { completionModel } from "./model.ts";
import { zshScript } from "./zsh.ts";

const writers = { bash: bashScript, zsh: zshScript, fish: fishScript } as const;

export type Shell = keyof typeof writers;

/** The completion script of one shell, generated from the tables of commands and flags. */
export function completionScript(shell: Shell, program: CliProgram, installRoot: string): string {
  return writers[shell](completionModel(program), installRoot);
}
