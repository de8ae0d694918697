import { GymError } from "../errors.ts";
import type { datasetErrorCodes } from "./error-codes.ts";

export type DatasetErrorCode = (typeof datasetErrorCodes)[number]["code"];

/** A dataset, its rows or its files are not as a command needs them. */
export class DatasetError extends GymError {
  declare readonly code: DatasetErrorCode;

  constructor(code: DatasetErrorCode, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}
