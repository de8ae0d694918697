import { existsSync } from "node:fs";
import path from "node:path";
import { GymError } from "../../base/errors.ts";
import { isServerType, type ServerType, serverTypes } from "../../config/light-door.ts";
import { candidatePaths, findServerDirectory } from "../../config/paths.ts";
import type { CommandContext } from "../command.ts";
import { hint } from "../hint.ts";
import { subfolders, yamlFiles } from "../workloads/catalog/folders.ts";

/** The folder of a server, as `+entrypoint=resources_servers/NAME` names it. */
export interface ServerFolder {
  readonly type: ServerType;
  readonly name: string;
  /** `resources_servers/NAME` */
  readonly entrypoint: string;
  readonly directory: string;
}

/** Finds the folder under the search roots, also by a component's older name. */
export function findServerFolder({ roots }: CommandContext, entrypoint: string): ServerFolder {
  const [type = "", name = "", ...rest] = entrypoint.replace(/\/+$/, "").split("/");
  if (path.isAbsolute(entrypoint) || rest.length > 0 || name === "" || !isServerType(type)) {
    throw new GymError(
      "SERVER_FOLDER",
      `entrypoint '${entrypoint}' must name a server folder in two parts, such as resources_servers/my_server; ` +
        `the first is one of ${serverTypes.join(", ")}.`,
    );
  }
  const directory = findServerDirectory(type, name, roots);
  if (directory === undefined) {
    const names = roots.flatMap((root) => subfolders(path.join(root, type)));
    const tried = candidatePaths(`${type}/${name}`, roots).map((place) => `  - ${place}`);
    throw new GymError(
      "SERVER_FOLDER",
      `There is no server in ${type}/${name}.${hint(name, names)} Looked at:\n${tried.join("\n")}`,
    );
  }
  const folder = path.basename(directory);
  return { type, name: folder, entrypoint: `${type}/${folder}`, directory };
}

/** Whether the server is written in Python only. */
export function isPythonServer({ directory }: ServerFolder): boolean {
  return existsSync(path.join(directory, "app.py")) && !existsSync(path.join(directory, "app.ts"));
}

/** The config named after the server, otherwise the first one. */
export function configName(directory: string, name: string): string | undefined {
  const files = yamlFiles(path.join(directory, "configs"));
  return files.find((file) => file === `${name}.yaml`) ?? files[0];
}
