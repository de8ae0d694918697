/** The files of a run: paths, rows, manifest, lock. */

export { annotationsPath, readAnnotations } from "./annotations.ts";
export {
  type ArtifactPaths,
  artifactPaths,
  assertRegularFile,
  healthReports,
  makeOutputDirectory,
  sidecarPath,
  VERDICTS_FILE,
} from "./artifact-paths.ts";
export { writeFileAtomically } from "./atomic-file.ts";
export { type FoundRun, filesOf, findRuns, OPTIMIZATION_NAME, type RunFiles } from "./find-runs.ts";
export {
  type JsonlLine,
  type JsonlReadOptions,
  parseRow,
  type Row,
  readLineBatches,
  readLines,
  readRows,
} from "./jsonl-rows.ts";
export { FSYNC_POLICIES, type FsyncPolicy, JsonlWriter } from "./jsonl-writer.ts";
export { LineAccess } from "./line-access.ts";
export { LineNumbering } from "./line-identity.ts";
export {
  compareManifest,
  createManifest,
  digestFile,
  environmentsOfConfig,
  modelOfConfig,
  type RunManifest,
  readManifest,
  readManifestLoosely,
  storedConfig,
  valueDifferences,
  writeManifest,
} from "./manifest.ts";
export { agentNameOf, givenTaskIndex } from "./row-fields.ts";
export {
  IMAGE_FOLDER,
  IMAGE_FORMS,
  type ImageForm,
  imagesOf,
  restoreImages,
  storeImages,
} from "./row-images.ts";
export { keyOfRow, materializedKey, requireKey } from "./row-key.ts";
export { lockRun } from "./run-lock.ts";
