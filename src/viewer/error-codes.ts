import type { ErrorCodeRow } from "../errors.ts";

/** Codes of the rollouts viewer. */
export const viewerErrorCodes = [
  {
    code: "VIEWER_NO_ROLLOUTS",
    class: "ViewerError",
    when: "A directory given to the viewer holds no rollouts file, nor does a directory in it.",
    fix: "Name the file.",
  },
  {
    code: "VIEWER_NOT_BUILT",
    class: "ViewerError",
    when: "The pages of the viewer are missing from the installation.",
    fix: "`npm run build` in the project, or install the package anew.",
  },
  {
    code: "VIEWER_LISTEN",
    class: "ViewerError",
    when: "The viewer cannot listen on the address, or the port and the hundred after it are taken.",
    fix: "Choose another `--host` or `--port`; port 0 takes any that is free.",
  },
  {
    code: "VIEWER_FOLDER_NOT_EMPTY",
    class: "ViewerError",
    when: "The folder for a static copy of a run already holds files.",
    fix: "Name a new or empty folder.",
  },
  {
    code: "VIEWER_REQUEST",
    class: "ViewerRequestError",
    when: "A request to the viewer's own server is refused: unknown address, bad parameter, foreign host.",
    fix: "The message says what was expected; `--allow-host` admits another host name.",
  },
  {
    code: "VIEWER_FILE_CHANGED",
    class: "FileChangedError",
    when: "A file was written anew, cut or removed while the viewer read a row from it (HTTP 409).",
    fix: "Ask again: the viewer reads the file anew within a second.",
  },
] as const satisfies readonly ErrorCodeRow[];
