import { createHash, randomBytes } from "node:crypto";

export interface HubFile {
  content: Buffer;
  /** Large files are in a separate store and addressed by sha256. */
  lfs: boolean;
}

/** One dataset repository: branches and pull request refs, each a full set of files. */
export class HubRepository {
  readonly id: string;
  readonly private: boolean;
  readonly revisions = new Map<string, Map<string, HubFile>>([["main", new Map()]]);
  readonly commits: {
    revision: string;
    oid: string;
    summary: string;
    description: string;
    paths: string[];
  }[] = [];
  /** Output of the hub's own conversion: config, split, contents of its parquet files. */
  readonly parquet = new Map<string, Map<string, Buffer[]>>();

  constructor(id: string, isPrivate = true) {
    this.id = id;
    this.private = isPrivate;
  }

  put(path: string, content: Buffer | string, options: { revision?: string; lfs?: boolean } = {}): void {
    const files = this.files(options.revision ?? "main") ?? this.branch(options.revision ?? "main");
    files.set(path, { content: Buffer.from(content), lfs: options.lfs ?? false });
  }

  read(path: string, revision = "main"): string | undefined {
    return this.files(revision)?.get(path)?.content.toString("utf8");
  }

  files(revision: string): Map<string, HubFile> | undefined {
    return this.revisions.get(revision);
  }

  /** A new revision with the files of `main`. */
  branch(name: string): Map<string, HubFile> {
    const files = new Map(this.revisions.get("main"));
    this.revisions.set(name, files);
    return files;
  }

  commit(
    revision: string,
    summary: string,
    description: string,
    changes: ReadonlyMap<string, HubFile | null>,
  ): string {
    const files = this.files(revision) ?? this.branch(revision);
    for (const [path, file] of changes) {
      if (file === null) files.delete(path);
      else files.set(path, file);
    }
    const oid = randomBytes(20).toString("hex");
    this.commits.push({ revision, oid, summary, description, paths: [...changes.keys()] });
    return oid;
  }
}

export function sha256(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The git id of a file. */
export function gitBlobId(content: Buffer): string {
  return createHash("sha1").update(`blob ${content.length}\0`).update(content).digest("hex");
}
