import { GymError } from "../errors.ts";

/** Stable codes of everything the dataset tools refuse; docs/reference/datasets.md explains each. */
export type DatasetErrorCode =
  | "DATASET_ENTRY_INVALID"
  | "DATASET_MISSING"
  | "DATASET_FILE"
  | "DATASET_NO_SOURCE"
  | "DATASET_CREDENTIALS_MISSING"
  | "DATASET_ROW_INVALID"
  | "DATASET_ROW_NOT_JSON"
  | "DATASET_LINE_TOO_LONG"
  | "DATASET_FIELD_MIXED_TYPES"
  | "DATASET_FIELD_RESERVED"
  | "DATASET_METRICS_CONFLICT"
  | "DATASET_METRICS_UNREADABLE"
  | "DATASET_OUTPUT_OVERWRITES_SOURCE"
  | "DATASET_PROMPT_CONFLICT"
  | "DATASET_ARGUMENTS_INVALID"
  | "DATASET_REMOTE_EXISTS";

/** A dataset, its rows or its files are not as a command needs them. */
export class DatasetError extends GymError {
  declare readonly code: DatasetErrorCode;

  constructor(code: DatasetErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}
