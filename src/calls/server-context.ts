import type { Logger } from "../logger.ts";
import type { ServerClient } from "./server-client.ts";

/** The name, config and environment of a running server instance. */
export interface ServerContext<Config = Record<string, unknown>> {
  /** Instance name, unique in a run. */
  readonly name: string;
  /** Folder of the implementation: data files and prompts lie below it. */
  readonly directory: string;
  readonly config: Config;
  /** The whole resolved config of the run. */
  readonly globalConfig: Readonly<Record<string, unknown>>;
  /** Calls other servers of the run by name. */
  readonly client: ServerClient;
  readonly log: Logger;
  /** Finds a file the way `config_paths` are found: extra roots, working directory, install root. */
  findFile(path: string): string;
}
