import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { SandboxUnavailableError } from "../errors.ts";

/** A command that runs in a sandbox. */
export interface ModalProcess {
  readonly stdout: ReadableStream<string>;
  readonly stderr: ReadableStream<string>;
  /** The exit code. */
  wait(): Promise<number>;
}

/** A running sandbox. */
export interface ModalSandbox {
  readonly sandboxId: string;
  readonly filesystem: {
    copyFromLocal(localPath: string, remotePath: string): Promise<void>;
    copyToLocal(remotePath: string, localPath: string): Promise<void>;
    /** Creates missing directories. */
    writeBytes(data: Uint8Array, remotePath: string): Promise<void>;
  };
  exec(
    command: string[],
    options: { workdir?: string; env?: Record<string, string>; timeoutMs?: number },
  ): Promise<ModalProcess>;
  tunnels(): Promise<Record<number, { readonly url: string }>>;
  /** The exit code; null while it runs. */
  poll(): Promise<number | null>;
  terminate(): Promise<void>;
}

/** The connection of one provider. */
export interface ModalClient {
  readonly apps: {
    fromName(name: string, options: { createIfMissing: boolean }): Promise<unknown>;
  };
  readonly images: { fromRegistry(tag: string): unknown };
  readonly sandboxes: {
    create(app: unknown, image: unknown, options: Record<string, unknown>): Promise<ModalSandbox>;
    fromId(id: string): Promise<ModalSandbox>;
  };
  close(): void;
}

/** What the provider uses of the npm package `modal`. */
export interface ModalSdk {
  ModalClient: new (options: Record<string, unknown>) => ModalClient;
}

/** Loads the package from the user's project. It is no dependency of this package, because few runs need it. */
export async function loadModalSdk(): Promise<ModalSdk> {
  const paths = [process.cwd(), import.meta.dirname];
  let file: string;
  try {
    file = createRequire(import.meta.url).resolve("modal", { paths });
  } catch (error) {
    throw new SandboxUnavailableError(
      "The sandbox provider 'modal' needs the npm package modal. Install it in your project: npm install modal@0.11",
      { cause: error },
    );
  }
  const module = (await import(pathToFileURL(file).href)) as Partial<ModalSdk> & {
    default?: Partial<ModalSdk>;
  };
  const ModalClient = module.ModalClient ?? module.default?.ModalClient;
  if (ModalClient) return { ModalClient };
  // Version 1 of the package on npm is another program.
  throw new SandboxUnavailableError(
    `The package at ${file} is not the SDK of Modal: it has no ModalClient. Install it: npm install modal@0.11`,
  );
}
