import { statSync } from "node:fs";
import path from "node:path";
import { reservedKeys } from "../config/light-door.ts";
import { isJsonWord, type ParsedWords } from "./arguments.ts";
import type { CliIo, CliProgram, Command, CommandContext } from "./command.ts";
import { describeDefault, typeName } from "./config-keys.ts";
import { UsageError } from "./errors.ts";
import { describe, PROGRAM_NAME } from "./help.ts";
import { collectOverrides } from "./overrides.ts";
import { createTerminal } from "./render/terminal.ts";
import { padEnd } from "./render/text-width.ts";

/** Converts flags to overrides, builds the context and runs the command, or shows the help of its config. */
export async function runCommand(
  command: Command,
  parsed: ParsedWords,
  io: CliIo,
  program: CliProgram,
): Promise<number> {
  const context = await createContext(command, parsed, io, program);
  if (!asksForConfigHelp(parsed.words)) return command.run(context);
  await context.resolve({ requireServers: false });
  context.out(configHelp(command, context.flags));
  return 0;
}

async function createContext(
  command: Command,
  parsed: ParsedWords,
  io: CliIo,
  program: CliProgram,
): Promise<CommandContext> {
  const { installRoot, searchRoots } = await import("../config/paths.ts");
  const env = withSearchDirs(command, parsed, io);
  const root = io.installRoot ?? installRoot();
  const roots = searchRoots({ cwd: io.cwd, env, installRoot: root });
  const out = (line: string) => void io.stdout.write(`${line}\n`);
  const err = (line: string) => void io.stderr.write(`${line}\n`);
  const json = parsed.flags["json"] === true || parsed.words.some(isJsonWord);
  const envFile = envFileChoice(parsed.envFile);
  const overrides = await collectOverrides(command, parsed, {
    roots,
    env,
    select: async (kind, flag, value) => {
      const { selectConfig } = await import("./selectors.ts");
      return selectConfig(kind, flag, value, { roots, warn: err });
    },
  });
  return {
    io,
    env,
    flags: parsed.flags,
    positionals: parsed.positionals,
    overrides,
    verbose: parsed.verbose,
    envFile,
    json,
    signal: io.signal ?? new AbortController().signal,
    terminal: createTerminal(io.stdout, io.env),
    program,
    installRoot: root,
    roots,
    out,
    err,
    async resolve(choices) {
      const { resolveConfig } = await import("../config/door.ts");
      return resolveConfig({
        ...command.resolve,
        ...envFile,
        ...choices,
        overrides,
        cwd: io.cwd,
        env,
        installRoot: root,
        // With --json, stdout contains one JSON text and nothing else.
        onNotice: (text, stream) =>
          stream === "stdout" && !json && !command.printsData ? out(text) : err(text),
      });
    },
  };
}

/** Which `env.yaml` is read, by `--env-yaml`. */
function envFileChoice(given: string | undefined): CommandContext["envFile"] {
  if (given === undefined) return {};
  return given === "none" ? { skipEnvYaml: true } : { envYamlPath: given };
}

/** Puts `--search-dir` before the roots in the environment variable, so that child processes inherit it. */
function withSearchDirs(command: Command, parsed: ParsedWords, io: CliIo): CliIo["env"] {
  const directories = Object.entries(command.flags)
    .filter(([, flag]) => flag.kind === "search-dir")
    .flatMap(([name]) => parsed.flags[name] as string[])
    .map((directory) => path.resolve(io.cwd, directory));
  if (directories.length === 0) return io.env;
  for (const directory of directories)
    if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory())
      throw new UsageError(`argument --search-dir: there is no directory ${directory}`);
  const before = io.env.NEMO_GYM_EXTRA_ROOTS ?? "";
  const roots = before === "" ? directories : [...directories, before];
  return { ...io.env, NEMO_GYM_EXTRA_ROOTS: roots.join(path.delimiter) };
}

const HELP_WORD = /^(?:\+\+?)?(h|help)=(.*)$/s;

/** Whether the overrides contain `+h=true` or `+help=true`; a file cannot request help. */
export function asksForConfigHelp(words: readonly string[]): boolean {
  return words.some((word) => {
    const value = HELP_WORD.exec(word)?.[2]?.trim().toLowerCase();
    return value !== undefined && !["", "false", "null", "0"].includes(value);
  });
}

/** The output of `+h=true`: the keys of the command, then those of every config. */
function configHelp(command: Command, flags: CommandContext["flags"]): string {
  const called = `${PROGRAM_NAME} ${command.words}`;
  const keys = command.keysFor?.(flags) ?? command.keys ?? {};
  const own = Object.entries(keys).map(
    ([name, key]): KeyLine => [`- ${name} (${typeName(key)})`, key.help + describeDefault(key)],
  );
  const lines = [`Displaying help for ${called}`, "", describe(command)];
  if (own.length > 0) lines.push("", "Parameters", ...aligned(own));
  if ("config" in command.flags) lines.push("", "Parameters of every config", ...aligned(commonKeys()));
  else if (own.length === 0) lines.push("", "There are no arguments to this CLI command!");
  lines.push("", `Its flags are listed by \`${called} --help\`.`);
  return lines.join("\n");
}

type KeyLine = readonly [label: string, help: string];

function commonKeys(): KeyLine[] {
  return reservedKeys.map((reserved): KeyLine => {
    const { key, description } = reserved;
    return [`- ${key}`, description + ("default" in reserved ? ` [default: ${reserved.default}]` : "")];
  });
}

function aligned(keys: readonly KeyLine[]): string[] {
  const width = Math.max(...keys.map(([label]) => label.length)) + 3;
  return keys.map(([label, help]) => padEnd(label, width) + help);
}
