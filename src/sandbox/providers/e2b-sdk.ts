import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { SandboxUnavailableError } from "../errors.ts";

/** Options of every call of the package. */
export interface E2bRequest {
  requestTimeoutMs?: number;
  signal?: AbortSignal;
}

/** A command that runs in a sandbox. */
export interface E2bCommand {
  readonly stdout: string;
  readonly stderr: string;
  /** Rejects with `CommandExitError`, which has an `exitCode`, or with `TimeoutError`. */
  wait(): Promise<{ exitCode: number; stdout: string; stderr: string }>;
  kill(): Promise<boolean>;
}

/** A running sandbox. */
export interface E2bSandbox {
  readonly sandboxId: string;
  readonly trafficAccessToken?: string;
  readonly commands: {
    run(
      command: string,
      options: E2bRequest & {
        background: true;
        cwd?: string;
        user?: string;
        envs?: Record<string, string>;
        /** 0: no limit. */
        timeoutMs: number;
        onStdout(data: string): void;
        onStderr(data: string): void;
      },
    ): Promise<E2bCommand>;
  };
  readonly files: {
    write(path: string, data: string | ArrayBuffer | Blob, options: E2bRequest): Promise<unknown>;
    read(path: string, options: E2bRequest & { format: "stream" }): Promise<ReadableStream<Uint8Array>>;
  };
  getHost(port: number): string;
  isRunning(options: E2bRequest): Promise<boolean>;
  kill(options: E2bRequest): Promise<boolean>;
}

/** What the provider uses of the npm package `e2b`. */
export interface E2bSdk {
  Sandbox: {
    create(options: Record<string, unknown>): Promise<E2bSandbox>;
    connect(id: string, options: Record<string, unknown>): Promise<E2bSandbox>;
  };
}

/** Loads the package from the user's project. It is no dependency of this package, because few runs need it. */
export async function loadE2bSdk(): Promise<E2bSdk> {
  const paths = [process.cwd(), import.meta.dirname];
  let file: string;
  try {
    file = createRequire(import.meta.url).resolve("e2b", { paths });
  } catch (error) {
    throw new SandboxUnavailableError(
      "The sandbox provider 'e2b' needs the npm package e2b. Install it in your project: npm install e2b",
      { cause: error },
    );
  }
  const module = (await import(pathToFileURL(file).href)) as Partial<E2bSdk> & { default?: Partial<E2bSdk> };
  const Sandbox = module.Sandbox ?? module.default?.Sandbox;
  if (Sandbox) return { Sandbox };
  throw new SandboxUnavailableError(`The package at ${file} is not the E2B SDK: it has no Sandbox.`);
}
