import type { z } from "zod";
import { formatPosition } from "../../config/errors.ts";
import {
  type ConfigNode,
  childOf,
  type DictNode,
  formatPath,
  type KeyPath,
  positionOf,
} from "../../config/light-door.ts";
import { SubmitError } from "./errors.ts";

/** The problems of one file. They are reported together, each with its position. */
export class Problems {
  readonly #found: string[] = [];
  readonly #root: DictNode;
  readonly #file: string;

  constructor(root: DictNode, file: string) {
    this.#root = root;
    this.#file = file;
  }

  /** Adds a problem of the value at `path`, with the position of the value `at`, or of the block that lacks it. */
  add(path: KeyPath, message: string, at: KeyPath = path): void {
    const near = this.#nearestNode(at);
    const position = positionOf(near);
    const fromFile = near.origin.source.kind === "file" && position !== undefined;
    const where = fromFile ? formatPosition(position) : `command line (${near.origin.source.name})`;
    this.#found.push(`${where}: ${path.length === 0 ? "" : `${formatPath(path)}: `}${message}`);
  }

  /** Adds an issue of the schema. */
  addIssue(issue: z.core.$ZodIssue): void {
    const path = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
    const key = path.at(-1);
    if (issue.code === "unrecognized_keys") {
      const messages = issue.message.split("\n");
      for (const [index, name] of issue.keys.entries())
        this.add(path, messages[index] ?? "", [...path, name]);
    } else if (issue.code !== "custom" && key !== undefined && this.#isAbsent(path)) {
      this.add(path.slice(0, -1), `${key} is missing`);
    } else this.add(path, issue.message);
  }

  throwIfAny(): void {
    if (this.#found.length === 0) return;
    const count = this.#found.length === 1 ? "a problem" : `${this.#found.length} problems`;
    throw new SubmitError(
      "SUBMIT_CONFIG",
      `${count} in '${this.#file}':\n${this.#found.map((line) => `  ${line}`).join("\n")}`,
    );
  }

  /** Null means absent. */
  #isAbsent(path: KeyPath): boolean {
    const parent = this.#nearestNode(path.slice(0, -1));
    const node = childOf(parent, path.at(-1) ?? "")?.node;
    return node === undefined || (node.kind === "scalar" && node.value === null);
  }

  #nearestNode(path: KeyPath): ConfigNode {
    let node: ConfigNode = this.#root;
    for (const segment of path) {
      const next: ConfigNode | undefined = childOf(node, segment)?.node;
      if (next === undefined) break;
      node = next;
    }
    return node;
  }
}
