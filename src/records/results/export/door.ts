/** Exports. It loads the Parquet writer. */

export { type ExportOptions, type ExportReport, exportRollouts } from "./export.ts";
