import type { Readable, Writable } from "node:stream";
import type { OwnerState } from "./owner.ts";
import type { SandboxSpec } from "./spec.ts";

/** Returned in place of an exit code when the sandbox, and not the command, ended the execution. */
export const RUNTIME_RETURN_CODE = 125;

/** The default time limit of a command. */
export const DEFAULT_EXEC_TIMEOUT_SECONDS = 180;

export type SandboxStatus = "starting" | "running" | "stopped" | "error" | "unknown";

/**
 * Why there is no exit code of the command's own: time was up, the sandbox used more memory than it may (both the command's
 * doing), or the sandbox itself failed (`sandbox`).
 */
export type ExecErrorType = "timeout" | "memory" | "sandbox";

/** How a command went; names as on the wire. */
export interface SandboxExecResult {
  stdout: string | null;
  stderr: string | null;
  return_code: number;
  error_type: ExecErrorType | null;
  /** There when output beyond the provider's limit was thrown away. */
  output_truncated?: true;
}

export interface ExecOptions {
  cwd?: string | undefined;
  /** Added to the environment of the spec. */
  env?: Readonly<Record<string, string>> | undefined;
  /** Null: the provider's own default. */
  timeoutSeconds?: number | null | undefined;
  user?: string | number | undefined;
  stdin?: string | Uint8Array | undefined;
  signal?: AbortSignal | undefined;
}

/** A command that goes on while its streams are used. Whoever starts one ends it; the end of the sandbox ends it too. */
export interface SandboxProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** How it went: stderr and the exit code. Never rejects. */
  readonly ended: Promise<SandboxExecResult>;
  kill(): void;
}

/** A created sandbox; `raw` belongs to its provider. */
export interface SandboxHandle<Raw = unknown> {
  readonly sandboxId: string;
  readonly providerName: string;
  readonly raw: Raw;
}

/** The way to a service inside a sandbox: an absolute URL and the headers it needs. */
export interface SandboxEndpoint {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
}

/** An existing sandbox of any process. */
export interface ListedSandbox {
  id: string;
  /** Whether the process that made it still runs. */
  state: OwnerState;
  /** What is known of it: image, process. */
  detail: string;
}

/** What another process needs to use the same sandbox; plain JSON. */
export type SandboxDescriptor = Readonly<Record<string, unknown>> & { readonly sandbox_id: string };

export interface PtySpec {
  /** Null or absent: the shell itself. */
  command?: string | undefined;
  cwd?: string | undefined;
  env?: Readonly<Record<string, string>> | undefined;
  rows?: number | undefined;
  cols?: number | undefined;
  user?: string | number | undefined;
}

/** One live terminal. */
export interface PtySession {
  readonly sessionId: string;
  readonly closed: boolean;
  /** The next output, empty at the end. */
  read(options?: { timeoutSeconds?: number; signal?: AbortSignal }): Promise<Uint8Array>;
  write(data: string | Uint8Array): Promise<void>;
  /** The exit code, once the process has ended. */
  waitExit(options?: { timeoutSeconds?: number; signal?: AbortSignal }): Promise<number>;
  close(): Promise<void>;
}

export interface Cancellable {
  signal?: AbortSignal | undefined;
}

/**
 * Makes and runs sandboxes of one kind. `create` returns when commands can be run and removes what it made when it fails;
 * `exec` does not throw for a command that fails; `close` of a sandbox that is gone is no error.
 */
export interface SandboxProvider<Raw = unknown> {
  readonly name: string;
  create(spec: SandboxSpec, options?: Cancellable): Promise<SandboxHandle<Raw>>;
  exec(handle: SandboxHandle<Raw>, command: string, options?: ExecOptions): Promise<SandboxExecResult>;
  uploadFile(
    handle: SandboxHandle<Raw>,
    source: string,
    target: string,
    options?: Cancellable,
  ): Promise<void>;
  /** Optional: writes a file without one on this machine. */
  writeFile?(
    handle: SandboxHandle<Raw>,
    target: string,
    content: string | Uint8Array,
    options?: Cancellable,
  ): Promise<void>;
  downloadFile(
    handle: SandboxHandle<Raw>,
    source: string,
    target: string,
    options?: Cancellable,
  ): Promise<void>;
  status(handle: SandboxHandle<Raw>, options?: Cancellable): Promise<SandboxStatus>;
  /** Ends one sandbox. */
  close(handle: SandboxHandle<Raw>): Promise<void>;
  /** Ends what the provider itself holds: connections, caches. */
  aclose(): Promise<void>;
  /** Optional: the version of what runs sandboxes here; throws when none can be made. */
  check?(options?: Cancellable): Promise<string>;
  /** Optional, together with `remove`: the sandboxes of all processes. */
  list?(options?: Cancellable): Promise<ListedSandbox[]>;
  /** Removes a listed sandbox; one that is gone is no error. */
  remove?(id: string, options?: Cancellable): Promise<void>;
  /** Optional: a command with live streams and no time limit of its own. It does not keep the program alive. */
  startProcess?(handle: SandboxHandle<Raw>, command: string): Promise<SandboxProcess>;
  /** Optional: the way to a declared port. */
  endpoint?(handle: SandboxHandle<Raw>, port: number, options?: Cancellable): Promise<SandboxEndpoint>;
  /** Optional: terminals. */
  createPty?(handle: SandboxHandle<Raw>, spec: PtySpec, options?: Cancellable): Promise<PtySession>;
  /** Optional, together with `connect`: hands a sandbox to another process. */
  serialize?(handle: SandboxHandle<Raw>): SandboxDescriptor;
  connect?(descriptor: SandboxDescriptor, options?: Cancellable): Promise<SandboxHandle<Raw>>;
}
