import { type ErrorTable, GymError } from "../base/errors.ts";

/** The viewer cannot start. */
export class ViewerError extends GymError {
  constructor(
    code: "VIEWER_NOT_BUILT" | "VIEWER_LISTEN" | "VIEWER_FOLDER_NOT_EMPTY",
    message: string,
    options?: { cause?: unknown },
  ) {
    super(code, message, options);
  }
}

/** A request that the viewer rejects; `status` is the HTTP status. */
export class ViewerRequestError extends GymError {
  readonly status: number;

  constructor(status: number, message: string) {
    super("VIEWER_REQUEST", message);
    this.status = status;
  }
}

/** A file was replaced, truncated or removed during a read; a new request returns the current content. */
export class FileChangedError extends GymError {
  constructor(path: string) {
    super("VIEWER_FILE_CHANGED", `'${path}' was replaced while it was read. Repeat the request.`);
  }
}

/** Codes of the rollouts viewer. */
export const viewerErrorCodes = {
  ViewerError: {
    VIEWER_NOT_BUILT: {
      when: "The pages of the viewer are missing from the installation.",
      fix: "`npm run build` in the project, or install the package again.",
    },
    VIEWER_LISTEN: {
      when: "The viewer cannot listen on the address, or the port and the hundred ports after it are in use.",
      fix: "Choose another `--host` or `--port`; port 0 selects any free port.",
    },
    VIEWER_FOLDER_NOT_EMPTY: {
      when: "The folder for a static copy of a run already contains files.",
      fix: "Name a new or empty folder.",
    },
  },
  ViewerRequestError: {
    VIEWER_REQUEST: {
      when: "A request to the viewer's own server is rejected: unknown address, bad parameter, foreign host.",
      fix: "Follow the message; `--allow-host` allows another host name.",
    },
  },
  FileChangedError: {
    VIEWER_FILE_CHANGED: {
      when: "A file was replaced, truncated or removed while the viewer read a row from it (HTTP 409).",
      fix: "Repeat the request. The viewer reads the file again within a second.",
    },
  },
} satisfies ErrorTable;
