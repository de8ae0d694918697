import { join } from "node:path";
import { Reply } from "../../calls/server-call.ts";
import type { ServerApp } from "../app.ts";
import { ProcessProfiler } from "./profiler.ts";

/** Profiles of the servers in this process: `GET /stats` of each server writes its file, and closing writes all files. */
export class ServerProfiles {
  readonly #profiler = new ProcessProfiler();
  readonly #files: { file: string; server: string }[] = [];
  readonly #onError: (server: string, error: unknown) => void;

  constructor(
    apps: ReadonlyMap<string, ServerApp>,
    {
      directory,
      suffix,
      onFile,
      onError,
    }: {
      directory: string;
      suffix: string;
      onFile: (server: string, file: string) => void;
      onError: (server: string, error: unknown) => void;
    },
  ) {
    this.#onError = onError;
    for (const app of apps.values()) {
      const file = join(directory, app.cookie.name, `${app.name.replaceAll("/", "_")}${suffix}.cpuprofile`);
      this.#files.push({ file, server: app.name });
      onFile(app.name, file);
      app.addGet("/stats", async () => {
        await this.#profiler.write(file);
        return new Reply({ raw: "" });
      });
    }
  }

  async close(): Promise<void> {
    for (const { file, server } of this.#files)
      await this.#profiler.write(file).catch((error: unknown) => this.#onError(server, error));
    this.#profiler.stop();
  }
}
