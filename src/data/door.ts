/** Collating, preparing and rendering datasets. */

export { benchmarkEntries, type PrepareEvent, prepareBenchmarks } from "./benchmarks/prepare-benchmarks.ts";
export { createPrepareContext, type PrepareContext } from "./benchmarks/prepare-context.ts";
export { existingScript } from "./benchmarks/prepare-script.ts";
export { type CollateEvent, type CollateResult, collate } from "./collate.ts";
export {
  type ConvertedRow,
  type ConvertOptions,
  type ConvertReport,
  openConversion,
} from "./convert/convert.ts";
export { readMap } from "./convert/fields.ts";
export { formatName } from "./convert/format-names.ts";
export { convertDataset } from "./convert/write.ts";
export { parseDatasetEntry } from "./entry.ts";
export { missingRegistryAccess } from "./locate.ts";
export { explainRow, missingSource, needsDownload } from "./prepare/prepare-from-yaml.ts";
export { readPrepareSpec } from "./prepare/spec.ts";
export { renderDataset } from "./render.ts";
export { type DatasetScan, scanDataset, summarizeScan } from "./scan-dataset.ts";
