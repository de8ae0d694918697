/** Boards, optimizations and packed runs. */

export {
  type Board,
  type BoardCell,
  type BoardEnvironment,
  type BoardTest,
  SIGNIFICANT,
} from "./board/board.ts";
export { BoardReader, readBoard } from "./board/read-board.ts";
export {
  type Optimization,
  type OptimizedCandidate,
  readOptimization,
  type TaskOf,
} from "./optimization.ts";
export { packRun } from "./packed/pack-run.ts";
export {
  openRunFile,
  PACKED_SUFFIX,
  packedRunOf,
  type RunFileHandle,
  readRunFile,
  rolloutsInside,
  runFileChunks,
  runFileExists,
  statRunFile,
} from "./packed/run-file.ts";
export { type VerifiedPack, verifyPacked } from "./packed/verify-packed.ts";
