import { DatasetError } from "./errors.ts";

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "may not be accessed",
  EPERM: "may not be accessed",
  EISDIR: "is a directory",
  ENOTDIR: "lies below something that is not a directory",
  ENOSPC: "does not fit: the disk is full",
  EDQUOT: "does not fit: the quota is used up",
  ENAMETOOLONG: "has too long a name",
  EROFS: "lies on a read-only file system",
};

/** A failure of the file system as one sentence; other errors come back as they are. */
export function fileError(error: unknown): unknown {
  const { code, path } = error as NodeJS.ErrnoException;
  if (typeof code !== "string" || !Object.hasOwn(REASONS, code)) return error;
  return new DatasetError(
    "DATASET_FILE",
    `${path === undefined ? "A file" : `'${path}'`} ${REASONS[code]}.`,
    {
      cause: error,
    },
  );
}
