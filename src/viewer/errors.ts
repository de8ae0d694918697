import { GymError } from "../errors.ts";

/** The viewer cannot start; error-codes.ts says what to do about each code. */
export class ViewerError extends GymError {
  constructor(
    code: "VIEWER_NO_ROLLOUTS" | "VIEWER_NOT_BUILT" | "VIEWER_LISTEN" | "VIEWER_FOLDER_NOT_EMPTY",
    message: string,
    options?: { cause?: unknown },
  ) {
    super(code, message, options);
  }
}

/** A request the viewer's server refuses; `status` is what the browser gets. */
export class ViewerRequestError extends GymError {
  readonly status: number;

  constructor(status: number, message: string) {
    super("VIEWER_REQUEST", message);
    this.status = status;
  }
}

/** A file was written anew, cut or removed while something was read from it; who asks again gets what is there now. */
export class FileChangedError extends GymError {
  constructor(path: string) {
    super("VIEWER_FILE_CHANGED", `'${path}' was written anew while it was read. Ask again.`);
  }
}
