import { type FileHandle, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { parseJson } from "../../base/door.ts";

/**
 * An incomplete download: `<destination>.part` contains the bytes and `<destination>.part.json` the identity of their
 * content. Without an identity a download cannot be continued.
 */
export class PartFile {
  private readonly destination: string;

  constructor(destination: string) {
    this.destination = destination;
  }

  get path(): string {
    return `${this.destination}.part`;
  }

  private get notePath(): string {
    return `${this.destination}.part.json`;
  }

  /** The part that an earlier run left behind. */
  async left(): Promise<{ identity: string | undefined; size: number }> {
    const size = await stat(this.path).then(
      (entry) => entry.size,
      () => 0,
    );
    const identity = await this.readIdentity();
    return identity === undefined ? { identity, size: 0 } : { identity, size };
  }

  /** Opens the file for writing and keeps the first `keep` bytes. */
  async open(keep: number, identity: string | undefined): Promise<FileHandle> {
    const handle = await open(this.path, keep > 0 ? "r+" : "w");
    if (keep > 0) await handle.truncate(keep);
    else if (identity === undefined) await rm(this.notePath, { force: true });
    else await writeFile(this.notePath, JSON.stringify({ identity }));
    return handle;
  }

  async discard(): Promise<void> {
    await Promise.all([rm(this.path, { force: true }), rm(this.notePath, { force: true })]);
  }

  /** Renames the complete file to its destination. */
  async finish(): Promise<void> {
    await rename(this.path, this.destination);
    await rm(this.notePath, { force: true });
  }

  private async readIdentity(): Promise<string | undefined> {
    const text = await readFile(this.notePath, "utf8").catch(() => "");
    const { identity } = (parseJson(text) ?? {}) as { identity?: unknown };
    // Without a complete note the content of the part is unknown, so the download starts again.
    return typeof identity === "string" ? identity : undefined;
  }
}
