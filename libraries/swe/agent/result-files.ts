import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import type { JsonObject } from "nemo-gym";
import type { SweInstance } from "../instance.ts";

/** Results by subset, model and instance, in the layout of the original. */
export class ResultFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async read(instance: SweInstance, model: string): Promise<JsonObject | undefined> {
    try {
      return JSON.parse(await readFile(this.#file(instance, model), "utf8")) as JsonObject;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      throw error;
    }
  }

  async write(instance: SweInstance, model: string, result: JsonObject): Promise<void> {
    const file = this.#file(instance, model);
    await mkdir(path.dirname(file), { recursive: true });
    const partial = `${file}.${process.pid}.partial`;
    await writeFile(partial, JSON.stringify(result));
    await rename(partial, file);
  }

  #file({ subset, instance_id }: SweInstance, model: string): string {
    const [first, second, third] = [subset, model, instance_id].map((name) =>
      name.replace(/[^\w.-]+/g, "_").replace(/^\.+$/, "_"),
    );
    return path.join(this.#directory, first ?? "", second ?? "", third ?? "", `${third}.json`);
  }
}
