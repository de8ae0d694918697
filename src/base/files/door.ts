/** Files: durable writes, locks, lines, private directories. */

export { appendDurably, replaceFile, replaceWith } from "./durable-file.ts";
export { FileLock, type LockOptions, withFileLock } from "./file-lock.ts";
export { globPattern, shellGlob } from "./glob.ts";
export { type FileLine, fileChunks, LineTooLongError, lineBatches, MAX_LINE_BYTES } from "./lines.ts";
export { makeDirectory, makeDirectorySync } from "./make-directory.ts";
export { PositionRanges } from "./position-ranges.ts";
export {
  isPrivateDirectory,
  makeSocketDirectory,
  userDirectory,
  withTemporaryDirectory,
} from "./private-directory.ts";
export { isRunning, startTicks } from "./process-identity.ts";
