import type { ErrorCodeRow } from "../errors.ts";

/** Codes of transfers to and from hubs and registries. */
export const remoteErrorCodes = [
  {
    code: "REMOTE_UNAUTHORIZED",
    class: "RemoteError",
    when: "The other side does not know the token (401).",
    fix: "Check the token in `env.yaml`; private repositories need one.",
  },
  {
    code: "REMOTE_FORBIDDEN",
    class: "RemoteError",
    when: "The token may not do this (403).",
    fix: "Ask for the right; a change on Hugging Face can be proposed with `--create-pr`.",
  },
  {
    code: "REMOTE_NOT_FOUND",
    class: "RemoteError",
    when: "Repository, branch, collection, version or file does not exist (404).",
    fix: "Check the names; a private repository looks absent to a token without access.",
  },
  {
    code: "REMOTE_CONFLICT",
    class: "RemoteError",
    when: "Another client changed the same thing (409).",
    fix: "Try again.",
  },
  {
    code: "REMOTE_RATE_LIMITED",
    class: "RemoteError",
    when: "Too many requests, also after waiting as long as asked (429).",
    fix: "Wait, or use a token, which has a higher limit.",
  },
  {
    code: "REMOTE_FAILED",
    class: "RemoteError",
    when: "Another failing status, also after several attempts.",
    fix: "Read the message; a 5xx may pass.",
  },
  {
    code: "REMOTE_ADDRESS_INVALID",
    class: "RemoteError",
    when: "The configured address of the hub or the registry is not an `https://` (or `http://`) address.",
    fix: "Correct `hf_endpoint`, `HF_ENDPOINT`, `mlflow_tracking_uri` or `MLFLOW_TRACKING_URI`.",
  },
  {
    code: "REMOTE_UNREACHABLE",
    class: "RemoteError",
    when: "No connection, also after several attempts.",
    fix: "Check address, network and proxy (`HTTPS_PROXY`, `NO_PROXY`).",
  },
  {
    code: "REMOTE_INCOMPLETE",
    class: "RemoteError",
    when: "A transfer broke off again and again.",
    fix: "Run the command again: it continues where it stopped, where the other side says that the content is the same.",
  },
  {
    code: "REMOTE_CHECKSUM_MISMATCH",
    class: "RemoteError",
    when: "What arrived does not have the checksum the other side gave. The file is not kept.",
    fix: "Try again; if it stays, the stored file is damaged.",
  },
  {
    code: "REMOTE_UNEXPECTED_ANSWER",
    class: "RemoteError",
    when: "The answer is not one of the API: a web page, endless redirects, missing fields.",
    fix: "Check the address (`hf_endpoint`, `mlflow_tracking_uri`) and whether it wants you to sign in.",
  },
] as const satisfies readonly ErrorCodeRow[];
