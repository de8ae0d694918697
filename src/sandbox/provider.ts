import type { Readable, Writable } from "node:stream";
import type { OwnerState } from "./owner.ts";
import type { SandboxSpec } from "./spec.ts";

/** Replaces the exit code if the sandbox, and not the command, ended the execution. */
export const RUNTIME_RETURN_CODE = 125;

/** The default time limit of a command. */
export const DEFAULT_EXEC_TIMEOUT_SECONDS = 180;

export type SandboxStatus = "starting" | "running" | "stopped" | "error" | "unknown";

/**
 * Why the command has no exit code: it exceeded its time limit or its memory limit, or the sandbox itself failed
 * (`sandbox`).
 */
export type ExecErrorType = "timeout" | "memory" | "sandbox";

/** The result of a command; names as on the wire. */
export interface SandboxExecResult {
  stdout: string | null;
  stderr: string | null;
  return_code: number;
  error_type: ExecErrorType | null;
  /** Present if output above the provider's limit was discarded. */
  output_truncated?: true;
}

export interface ExecOptions {
  cwd?: string;
  /** Added to the environment of the spec. */
  env?: Readonly<Record<string, string>>;
  /** Null: the default of the provider. */
  timeoutSeconds?: number | null;
  user?: string | number;
  stdin?: string | Uint8Array;
  signal?: AbortSignal;
}

/** A running command with live streams. The caller must end it; it also ends with the sandbox. */
export interface SandboxProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Resolves at the end of the command with stderr and the exit code. Never rejects. */
  readonly ended: Promise<SandboxExecResult>;
  kill(): void;
}

/** A created sandbox; `raw` is for its provider only. */
export interface SandboxHandle<Raw = unknown> {
  readonly sandboxId: string;
  readonly providerName: string;
  readonly raw: Raw;
}

/** The address of a service inside a sandbox: an absolute URL and the required headers. */
export interface SandboxEndpoint {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
}

/** An existing sandbox of any process. */
export interface ListedSandbox {
  id: string;
  /** Whether the process that created it still runs. */
  state: OwnerState;
  /** Further information, such as image or process. */
  detail: string;
}

/** The data with which another process can use the same sandbox; plain JSON. */
export type SandboxDescriptor = Readonly<Record<string, unknown>> & { readonly sandbox_id: string };

export interface PtySpec {
  /** Absent: the shell itself. */
  command?: string;
  cwd?: string;
  env?: Readonly<Record<string, string>>;
  rows?: number;
  cols?: number;
  user?: string | number;
}

/** A terminal in a sandbox. */
export interface PtySession {
  readonly sessionId: string;
  readonly closed: boolean;
  /** The next output; empty at the end. */
  read(options?: { timeoutSeconds?: number; signal?: AbortSignal }): Promise<Uint8Array>;
  write(data: string | Uint8Array): Promise<void>;
  /** Waits for the end of the process and returns its exit code. */
  waitExit(options?: { timeoutSeconds?: number; signal?: AbortSignal }): Promise<number>;
  close(): Promise<void>;
}

export interface Cancellable {
  signal?: AbortSignal;
}

/**
 * Creates and runs sandboxes of one kind. `create` returns when commands can run, and leaves nothing behind if it fails.
 * `exec` does not throw if the command fails. `close` accepts a sandbox that no longer exists.
 */
export interface SandboxProvider<Raw = unknown> {
  readonly name: string;
  /** Whether its settings leave sandboxes without a network. */
  readonly isOffline?: boolean;
  create(spec: SandboxSpec, options?: Cancellable): Promise<SandboxHandle<Raw>>;
  exec(handle: SandboxHandle<Raw>, command: string, options?: ExecOptions): Promise<SandboxExecResult>;
  uploadFile(
    handle: SandboxHandle<Raw>,
    source: string,
    target: string,
    options?: Cancellable,
  ): Promise<void>;
  /** Optional: writes a file without a copy on this machine. */
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
  /** Closes the resources of the provider itself: connections, caches. */
  aclose(): Promise<void>;
  /** Optional: returns the version of the underlying program. Throws if sandboxes cannot be created. */
  check?(options?: Cancellable): Promise<string>;
  /** Optional, together with `remove`: the sandboxes of all processes. */
  list?(options?: Cancellable): Promise<ListedSandbox[]>;
  /** Removes a listed sandbox. A sandbox that no longer exists is not an error. */
  remove?(id: string, options?: Cancellable): Promise<void>;
  /** Optional: starts a command with live streams and without a time limit. It does not keep this process alive. */
  startProcess?(handle: SandboxHandle<Raw>, command: string): Promise<SandboxProcess>;
  /** Optional: returns the address of a declared port. */
  endpoint?(handle: SandboxHandle<Raw>, port: number, options?: Cancellable): Promise<SandboxEndpoint>;
  /** Optional: opens a terminal. */
  createPty?(handle: SandboxHandle<Raw>, spec: PtySpec, options?: Cancellable): Promise<PtySession>;
  /** Optional, together with `connect`: lets another process use a sandbox. */
  serialize?(handle: SandboxHandle<Raw>): SandboxDescriptor;
  connect?(descriptor: SandboxDescriptor, options?: Cancellable): Promise<SandboxHandle<Raw>>;
}
