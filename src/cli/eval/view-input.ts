import { createReadStream, createWriteStream } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import path from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { errorMessage } from "../../base/errors.ts";
import { shellGlob } from "../../base/files/door.ts";
import { RolloutFileError } from "../../records/errors.ts";
import type { CommandContext } from "../command.ts";
import { UsageError } from "../errors.ts";
import { rolloutFile } from "../files.ts";

const DEFAULT_RUN = "results";
const WEB_ADDRESS = /^https?:\/\//i;
const COMPRESSED = /\.gz$/i;
/** A few kilobytes of gzip can expand to gigabytes, and an address can send an endless response. */
const MAX_COPIED_BYTES = 16e9;

/**
 * Resolves RUN and OTHER to files and directories. Files from the web and compressed ones are first copied into a
 * directory.
 */
export class ViewInput {
  readonly files: string[] = [];
  /** Copied files, with their source address or path. */
  readonly copies = new Map<string, string>();
  readonly #context: CommandContext;
  readonly #directory: string;

  constructor(context: CommandContext, directory: string) {
    this.#context = context;
    this.#directory = directory;
  }

  /** Adds a rollouts file, directory, pattern or web address; default: `results`. */
  async add(name: string | undefined, flag: string): Promise<void> {
    if (name !== undefined && WEB_ADDRESS.test(name)) this.files.push(await this.#downloaded(name, flag));
    else for (const file of await this.#found(name ?? DEFAULT_RUN, flag)) await this.#addFile(file);
  }

  async #found(name: string, flag: string): Promise<string[]> {
    const { cwd } = this.#context.io;
    const there = await stat(path.resolve(cwd, name)).catch(() => undefined);
    if (!there && /[*?[]/.test(name)) {
      const found = await shellGlob(name, cwd);
      if (found.length > 0) return found.map((file) => path.resolve(cwd, file));
      throw new RolloutFileError("ROLLOUT_FILE_MISSING", name, `No file matches '${name}' (${flag}).`);
    }
    if (!there && flag === "RUN" && name === DEFAULT_RUN)
      throw new RolloutFileError(
        "ROLLOUT_FILE_MISSING",
        name,
        "There is no directory 'results' here. Name a rollouts file or the directory of a run: gym eval view RUN.",
      );
    return [await rolloutFile(this.#context, name, flag, { directory: true })];
  }

  async #addFile(file: string): Promise<void> {
    this.files.push(COMPRESSED.test(file) ? await this.#unpacked(file, file) : file);
  }

  async #downloaded(address: string, flag: string): Promise<string> {
    const { err, json, signal } = this.#context;
    if (!URL.canParse(address)) throw new UsageError(`argument ${flag}: '${address}' is not a web address`);
    // Pages show the source of a run and may be shared, so credentials and signatures are removed.
    const { origin, host, pathname } = new URL(address);
    const shown = `${origin}${pathname}`;
    const name = path.posix.basename(pathname).replace(/[^\w.-]/g, "_") || "rollouts.jsonl";
    const isCompressed = COMPRESSED.test(name);
    const destination = await this.#place(
      "web",
      isCompressed || name.endsWith(".jsonl") ? name : `${name}.jsonl`,
    );
    const { downloadFile } = await import("../../data/remote/door.ts");
    if (!json) err(`Fetching ${shown}`);
    const sent = await downloadFile({ url: address, destination, signal, maxBytes: MAX_COPIED_BYTES });
    if (sent.host !== host && !json) err(`Redirected: ${sent.host} sent the file.`);
    if (isCompressed) return this.#unpacked(destination, shown);
    this.copies.set(destination, shown);
    return destination;
  }

  async #unpacked(file: string, origin: string): Promise<string> {
    const name = path.basename(file).replace(COMPRESSED, "");
    const destination = await this.#place(
      path.basename(path.dirname(file)),
      name.endsWith(".jsonl") ? name : `${name}.jsonl`,
    );
    try {
      await pipeline(
        createReadStream(file),
        createGunzip(),
        atMost(MAX_COPIED_BYTES),
        createWriteStream(destination),
        { signal: this.#context.signal },
      );
    } catch (error) {
      this.#context.signal.throwIfAborted();
      const message = `'${origin}' cannot be unpacked: ${errorMessage(error)}.`;
      throw new RolloutFileError("ROLLOUT_FILE_UNREADABLE", file, message);
    }
    this.copies.set(destination, origin);
    return destination;
  }

  /** A separate path for each copy, because two files may have the same name. */
  async #place(folder: string, name: string): Promise<string> {
    const directory = path.join(this.#directory, String(this.copies.size), folder);
    await mkdir(directory, { recursive: true });
    return path.join(directory, name);
  }
}

function atMost(limit: number): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > limit) done(new Error(`it holds more than ${limit / 1e9} GB`));
      else done(null, chunk);
    },
  });
}
