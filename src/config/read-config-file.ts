import { closeSync, openSync, readSync, statSync } from "node:fs";
import path from "node:path";
import { errorMessage } from "../base/errors.ts";
import { ConfigError } from "./errors.ts";
import { impliedConfig } from "./implied-config.ts";
import { parseText } from "./interpolation/interpolation-grammar.ts";
import { scalarsIn } from "./key-path.ts";
import { type ConfigNode, type DictNode, interpolationText, positionOf, type Source } from "./node.ts";
import { readYaml } from "./yaml/read.ts";

/** Larger files are data, not configuration. */
const MAX_BYTES = 4 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;

/** Reads a config file. Every mistake in it is a ConfigError with its position. */
export function readConfigFile(file: string, kind: Source["kind"] = "file"): DictNode {
  const implied = impliedConfig(file);
  if (implied === undefined) return readConfigText(readText(file), { kind, name: file });
  const folder = path.dirname(path.dirname(file));
  return readConfigText(implied, { kind, name: `${folder} (default config)` });
}

/** Reads the text of a config and checks the syntax of its interpolations. */
export function readConfigText(text: string, source: Source): DictNode {
  const root = readYaml(text, source);
  checkInterpolationSyntax(root);
  return root;
}

/** Throws for the first text with an invalid `${…}`. */
export function checkInterpolationSyntax(node: ConfigNode): void {
  for (const { node: value } of scalarsIn(node)) {
    const text = interpolationText(value);
    if (text !== undefined) parseText(text, positionOf(value));
  }
}

function readText(file: string): string {
  let bytes: Buffer;
  try {
    const stats = statSync(file);
    if (stats.isDirectory()) throw unreadable(file, "it is a directory");
    // Opening a pipe blocks until a writer opens it, possibly forever.
    if (!stats.isFile() && !stats.isCharacterDevice()) throw unreadable(file, "it is not a regular file");
    bytes = readBytes(file);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw unreadable(file, errorMessage(error), error);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    const valid = validPrefix(bytes);
    const lines = valid.split("\n");
    const [line, column] = [lines.length, (lines.at(-1)?.length ?? 0) + 1];
    throw new ConfigError(
      `Config file '${file}' is not UTF-8 text: invalid byte at line ${line}, column ${column}.`,
      {
        code: "CONFIG_FILE_UNREADABLE",
        position: { source: file, line, column },
        cause: error,
      },
    );
  }
}

/** Reads up to the limit. Devices have no size, and some never end. */
function readBytes(file: string): Buffer {
  const descriptor = openSync(file, "r");
  try {
    const chunks: Buffer[] = [];
    for (let total = 0; ; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const read = readSync(descriptor, chunk);
      if (read === 0) return Buffer.concat(chunks);
      total += read;
      if (total > MAX_BYTES) throw unreadable(file, `it is larger than ${MAX_BYTES / 1024 / 1024} MiB`);
      chunks.push(chunk.subarray(0, read));
    }
  } finally {
    closeSync(descriptor);
  }
}

/** The text before the first byte that is not UTF-8. */
function validPrefix(bytes: Buffer): string {
  const text = bytes.toString("utf8");
  for (let at = text.indexOf("\ufffd"); at >= 0; at = text.indexOf("\ufffd", at + 1)) {
    const before = text.slice(0, at);
    const start = Buffer.byteLength(before);
    // The file itself may contain a replacement character.
    if (!bytes.subarray(start, start + 3).equals(Buffer.from("\ufffd"))) return before;
  }
  return text;
}

function unreadable(file: string, problem: string, cause?: unknown): ConfigError {
  return new ConfigError(`Config file '${file}' cannot be read: ${problem}.`, {
    code: "CONFIG_FILE_UNREADABLE",
    position: { source: file, line: 1, column: 1 },
    cause,
  });
}
