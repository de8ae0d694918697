import { isJsonWord, isOverrideWord, parseArguments } from "./arguments.ts";
import type { CliIo, Command, Program } from "./command.ts";
import { program as gymProgram } from "./commands/table.ts";
import { UsageError } from "./errors.ts";
import {
  commandHelp,
  commandUsage,
  groupHelp,
  groupUsage,
  PROGRAM_NAME,
  programHelp,
  programUsage,
  rootFlags,
} from "./help.ts";
import { hint } from "./hint.ts";
import { createTerminal } from "./render/terminal.ts";

/** Runs one command line and returns the exit code. Does not use `process`; see process.ts for that. */
export async function runCli(
  argv: readonly string[],
  io: CliIo,
  program: Program = gymProgram,
): Promise<number> {
  if (/^(?:ng|nemo_gym)_/.test(argv[0] ?? "")) return runLegacy(argv[0] ?? "", argv.slice(1), io, program);
  const width = createTerminal(io.stdout, io.env).width;
  const frame: Frame = { io, program, width };
  let usage = { text: programUsage(width), name: PROGRAM_NAME };
  try {
    const root = readRoot(argv[0] === "help" ? [...argv.slice(1), "--help"] : argv);
    if (root.help) return print(frame, programHelp(program, width), 0);
    if (root.version) return await printVersion(frame, root);
    if (root.command === undefined) return print(frame, programHelp(program, width), 1);
    if (root.json) throw new UsageError("argument --json: only allowed with --version, or behind a command");
    const found = findCommand(frame, root, (group) => {
      usage = { text: groupUsage(group, width), name: `${PROGRAM_NAME} ${group}` };
    });
    if ("exitCode" in found) return found.exitCode;
    const { command, rest } = found;
    usage = { text: commandUsage(command, width), name: `${PROGRAM_NAME} ${command.words}` };
    const parsed = parseArguments(command, [...root.before, ...rest]);
    if (parsed.help) return print(frame, commandHelp(command, width), 0);
    const { runCommand } = await import("./run-command.ts");
    return await runCommand(command, parsed, io, program);
  } catch (error) {
    if (isOutOfFiles(error)) {
      io.stderr.write(`Error: ${error.message}\n${OPEN_FILES_HINT}\n`);
      return 1;
    }
    const { reportError } = await import("./report-error.ts");
    return reportError(error, io, usage, {
      json: argv.includes("--json") || argv.some(isJsonWord),
      verbose: argv.includes("-v") || argv.includes("--verbose"),
    });
  }
}

const OPEN_FILES_HINT =
  "The limit on open files is too low (`ulimit -n`). Raise it to 1024 or more; a run also needs one for every connection.";

/** Handled here, because no further module can be loaded in this state. */
function isOutOfFiles(error: unknown): error is Error {
  const { code } = (error ?? {}) as { code?: unknown };
  return error instanceof Error && (code === "EMFILE" || code === "ENFILE");
}

/** Runs an older command, by the name of the started file. */
export async function runLegacy(
  startedAs: string,
  argv: readonly string[],
  io: CliIo,
  program: Program = gymProgram,
): Promise<number> {
  const { translateLegacy } = await import("./legacy.ts");
  const call = translateLegacy(program, startedAs, argv);
  io.stderr.write(`${call.notice}\n`);
  return call.argv === undefined ? 1 : runCli(call.argv, io, program);
}

interface Frame {
  readonly io: CliIo;
  readonly program: Program;
  readonly width: number;
}

function print({ io }: Frame, text: string, exitCode: number): number {
  io.stdout.write(`${text}\n`);
  return exitCode;
}

interface RootWords {
  readonly help: boolean;
  readonly version: boolean;
  readonly json: boolean;
  /** The first word that is neither a flag nor an override. */
  readonly command: string | undefined;
  /** Overrides and `-v` before the command; they belong to it. */
  readonly before: readonly string[];
  readonly rest: readonly string[];
}

function readRoot(argv: readonly string[]): RootWords {
  const split = argv.findIndex((word) => !word.startsWith("-") && !isOverrideWord(word));
  const head = split < 0 ? argv : argv.slice(0, split);
  const { help: _help, verbose: _verbose, ...own } = rootFlags;
  const parsed = parseArguments({ flags: own }, head);
  return {
    help: parsed.help,
    version: parsed.flags.version === true,
    json: parsed.flags.json === true,
    command: split < 0 ? undefined : argv[split],
    before: [...(parsed.verbose ? ["--verbose"] : []), ...parsed.words],
    rest: split < 0 ? [] : argv.slice(split + 1),
  };
}

const VERSION_KEYS = [
  "Displaying help for gym --version",
  "",
  "Print the version of the gym, of its dependencies and of the machine.",
  "",
  "Parameters",
  "- json (bool)          print JSON [default: false]",
  "- json_format (bool)   older name of json",
].join("\n");

async function printVersion(frame: Frame, root: RootWords): Promise<number> {
  const [{ asksForConfigHelp }, { formatVersion, versionReport }, { installRoot }] = await Promise.all([
    import("./config-help.ts"),
    import("./version.ts"),
    import("../config/paths.ts"),
  ]);
  const words = [...root.before, ...root.rest];
  if (asksForConfigHelp(words)) return print(frame, VERSION_KEYS, 0);
  const json = root.json || words.some(isJsonWord);
  const report = versionReport(frame.io.installRoot ?? installRoot());
  return print(frame, json ? JSON.stringify(report) : formatVersion(report), 0);
}

type Found = { command: Command; rest: readonly string[] } | { exitCode: number };

/** Finds the command; prints the help of a group. */
function findCommand(frame: Frame, root: RootWords, enterGroup: (group: string) => void): Found {
  const { program } = frame;
  const word = root.command ?? "";
  const top = program.commands.find((command) => command.group === undefined && command.name === word);
  if (top !== undefined) return { command: top, rest: root.rest };
  const members = program.commands.filter((command) => command.group === word);
  if (members.length === 0) throw unknownCommand(word, topWords(program));
  enterGroup(word);
  return findMember(frame, word, members, root.rest);
}

function findMember(
  frame: Frame,
  group: string,
  members: readonly Command[],
  words: readonly string[],
): Found {
  const split = words.findIndex((word) => !word.startsWith("-") && !isOverrideWord(word));
  const before = split < 0 ? words : words.slice(0, split);
  const parsed = parseArguments({ flags: {} }, before);
  if (parsed.help) return { exitCode: print(frame, groupHelp(frame.program, group, frame.width), 0) };
  if (split < 0) return { exitCode: print(frame, groupHelp(frame.program, group, frame.width), 1) };
  const name = words[split] ?? "";
  const command = members.find((member) => member.name === name);
  if (command === undefined)
    throw unknownCommand(
      name,
      members.map((member) => member.name),
    );
  return { command, rest: [...before, ...words.slice(split + 1)] };
}

function topWords(program: Program): string[] {
  const groups = program.groups.map(({ name }) => name);
  const used = groups.filter((name) => program.commands.some((command) => command.group === name));
  const tops = program.commands.filter(({ group }) => group === undefined).map(({ name }) => name);
  return [...used, ...tops];
}

function unknownCommand(word: string, known: readonly string[]): UsageError {
  const listed = known.map((name) => `'${name}'`).join(", ");
  return new UsageError(
    `argument COMMAND: invalid choice: '${word}' (choose from ${listed})${hint(word, known)}`,
  );
}
