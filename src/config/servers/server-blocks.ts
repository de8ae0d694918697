import type { DictNode } from "../node.ts";
import { type ServerType, serverTypes } from "./server-types.ts";

/** What listings show about a config file. */
export interface ConfigMetadata {
  domain?: string;
  description?: string;
  /** What the environment is good for; only resources servers declare it. */
  value?: string;
}

/** What stands in a leniently read config where a value is missing. */
export const STAND_IN = "(not set)";

/** The first non-empty value of each field over all instances as they are written, resources servers first. */
export function metadataOf(root: DictNode): ConfigMetadata {
  const metadata: ConfigMetadata = {};
  for (const { type, block } of serverBlocks(root)) {
    metadata.domain ??= textField(block, "domain");
    metadata.description ??= textField(block, "description");
    if (type === "resources_servers") metadata.value ??= textField(block, "value");
  }
  return metadata;
}

/** A block that stands where a server's does, valid or not. */
export interface ServerBlockEntry {
  name: string;
  type: ServerType;
  implementation: string;
  block: DictNode;
}

/** The server blocks of a config as it is written, instance by instance. */
export function* serverBlocks(root: DictNode): Generator<ServerBlockEntry> {
  for (const [name, instance] of root.entries) {
    if (instance.kind !== "dict") continue;
    for (const type of serverTypes) {
      const implementations = instance.entries.get(type);
      if (implementations?.kind !== "dict") continue;
      for (const [implementation, block] of implementations.entries)
        if (block.kind === "dict")
          yield { name: String(name), type, implementation: String(implementation), block };
    }
  }
}

function textField(block: DictNode, field: string): string | undefined {
  const node = block.entries.get(field);
  const value = node?.kind === "scalar" ? node.value : undefined;
  return typeof value === "string" && value !== "" && value !== STAND_IN ? value : undefined;
}
