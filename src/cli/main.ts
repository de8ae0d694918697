import { errorMessage, GymError } from "../base/errors.ts";
import { redactKnown } from "../base/secrets.ts";
import { isJsonWord, isOverrideWord, parseWords } from "./arguments.ts";
import type { CliIo, CliProgram, FlagTable } from "./command.ts";
import { program as gymProgram } from "./commands/table.ts";
import { CommandKeysError, UsageError } from "./errors.ts";
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
import { interruptedExitCode } from "./interruption.ts";
import { createTerminal } from "./render/terminal.ts";

/** Runs one command line and returns the exit code. Does not use `process`; see process.ts for that. */
export async function runCli(
  argv: readonly string[],
  io: CliIo,
  program: CliProgram = gymProgram,
): Promise<number> {
  if (/^(?:ng|nemo_gym)_/.test(argv[0] ?? "")) return runLegacy(argv[0] ?? "", argv.slice(1), io, program);
  const { width } = createTerminal(io.stdout, io.env);
  const print = (text: string, exitCode: number) => {
    io.stdout.write(`${text}\n`);
    return exitCode;
  };
  let usage = { text: programUsage(width), name: PROGRAM_NAME };
  try {
    const { help: _help, verbose: _verbose, ...own } = rootFlags;
    const root = splitAtWord(argv[0] === "help" ? [...argv.slice(1), "--help"] : argv, own);
    if (root.parsed.help) return print(programHelp(program, width), 0);
    if (root.parsed.flags.version)
      return print(await versionText(io, root.others, root.parsed.flags.json === true), 0);
    if (root.word === undefined) return print(programHelp(program, width), 1);
    // `--json` before a group belongs to the command in it.
    let words = root.parsed.flags.json
      ? root.others.filter((word) => !/^--js?o?n?$/.test(word))
      : root.others;
    let command = program.commands.find((candidate) => candidate.words === root.word);
    if (command === undefined) {
      const group = root.word;
      const members = program.commands.filter((candidate) => candidate.group === group);
      if (members.length === 0) throw unknownCommand(group, topWords(program));
      usage = { text: groupUsage(group, width), name: `${PROGRAM_NAME} ${group}` };
      const inside = splitAtWord(words, {});
      const { word, parsed } = inside;
      if (parsed.help || word === undefined)
        return print(groupHelp(program, group, width), parsed.help ? 0 : 1);
      command = members.find(({ name }) => name === word);
      if (command === undefined) throw unknownCommand(word, namesOf(members));
      words = inside.others;
    }
    usage = { text: commandUsage(command, width), name: `${PROGRAM_NAME} ${command.words}` };
    if (root.parsed.flags.json) {
      if (!Object.hasOwn(command.flags, "json"))
        throw new UsageError("argument --json: this command has no JSON output");
      words = [...words, "--json"];
    }
    const parsed = parseWords(command, words);
    if (parsed.help) return print(commandHelp(command, width), 0);
    const { runCommand } = await import("./run-command.ts");
    return await runCommand(command, parsed, io, program);
  } catch (error) {
    if (isOutOfFiles(error)) {
      io.stderr.write(`Error: ${error.message}\n${OPEN_FILES_HINT}\n`);
      return 1;
    }
    return reportError(error, io, usage, {
      json: argv.includes("--json") || argv.some(isJsonWord),
      verbose: argv.includes("-v") || argv.includes("--verbose"),
    });
  }
}

interface UsageText {
  readonly text: string;
  /** `gym env resolve` */
  readonly name: string;
}

interface ReportOptions {
  /** A program reads stdout: the error goes there as one line of JSON, and as text to stderr. */
  readonly json: boolean;
  /** Prints the code of the error, which docs/reference/errors.md explains. */
  readonly verbose: boolean;
}

/** Prints an error in the format of its kind and returns the exit code. Only unexpected errors show a stack. */
function reportError(error: unknown, io: CliIo, usage: UsageText, options: ReportOptions): number {
  if (options.json && io.signal?.aborted !== true) io.stdout.write(`${errorJson(error)}\n`);
  if (error instanceof UsageError || error instanceof CommandKeysError) {
    io.stderr.write(`${usage.text}\n${usage.name}: error: ${error.message}\n`);
    return 2;
  }
  if (io.signal?.aborted === true) {
    io.stderr.write("Interrupted.\n");
    return interruptedExitCode(io.signal);
  }
  if (!(error instanceof GymError)) {
    const text = error instanceof Error ? (error.stack ?? error.message) : errorMessage(error);
    io.stderr.write(`${redactKnown(text)}\n`);
    return 1;
  }
  if (error.code === "CONFIG_OVERRIDE") {
    io.stderr.write(`${error.message}\n`);
    return 1;
  }
  // The original prints config errors to stdout, and scripts read them there.
  const stream = error.code.startsWith("CONFIG_") && !options.json ? io.stdout : io.stderr;
  stream.write(`${createTerminal(stream, io.env).red("Error:")} ${redactKnown(error.message)}\n`);
  if (error.remedy !== undefined) stream.write(`${error.remedy}\n`);
  if (options.verbose) stream.write(`Code: ${error.code} (docs/reference/errors.md)\n`);
  return 1;
}

function errorJson(error: unknown): string {
  const known = error instanceof GymError ? error : undefined;
  return JSON.stringify({
    event: "error",
    code: known?.code ?? "UNEXPECTED",
    message: redactKnown(errorMessage(error)),
    remedy: known?.remedy,
  });
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
  program: CliProgram = gymProgram,
): Promise<number> {
  const { translateLegacy } = await import("./legacy.ts");
  const call = translateLegacy(program, startedAs, argv);
  io.stderr.write(`${call.notice}\n`);
  return call.argv === undefined ? 1 : runCli(call.argv, io, program);
}

/** Parses the flags before the first word that is neither a flag nor an override. */
function splitAtWord(words: readonly string[], flags: FlagTable) {
  const found = words.findIndex((word) => !word.startsWith("-") && !isOverrideWord(word));
  const index = found < 0 ? words.length : found;
  const before = words.slice(0, index);
  return {
    parsed: parseWords({ flags }, before),
    word: words[index],
    /** All other words; flags and overrides before a command belong to it. */
    others: [...before, ...words.slice(index + 1)],
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

async function versionText(io: CliIo, words: readonly string[], json: boolean): Promise<string> {
  const [{ asksForConfigHelp }, { formatVersion, versionReport }, { installRoot }] = await Promise.all([
    import("./run-command.ts"),
    import("./version.ts"),
    import("../config/paths.ts"),
  ]);
  if (asksForConfigHelp(words)) return VERSION_KEYS;
  const report = versionReport(io.installRoot ?? installRoot());
  return json || words.some(isJsonWord) ? JSON.stringify(report) : formatVersion(report);
}

function topWords({ groups, commands }: CliProgram): string[] {
  const used = groups.filter(({ name }) => commands.some(({ group }) => group === name));
  return namesOf([...used, ...commands.filter(({ group }) => group === undefined)]);
}

function namesOf(named: readonly { name: string }[]): string[] {
  return named.map(({ name }) => name);
}

function unknownCommand(word: string, known: readonly string[]): UsageError {
  const listed = known.map((name) => `'${name}'`).join(", ");
  return new UsageError(
    `argument COMMAND: invalid choice: '${word}' (choose from ${listed})${hint(word, known)}`,
  );
}
