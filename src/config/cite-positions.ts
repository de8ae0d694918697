import type { ResolvedConfig } from "./resolved-config.ts";

/**
 * Adds the source of each value to the lines `- server.type.implementation.key: problem` of a message. Schemas of servers
 * check plain data, which has no positions.
 */
export function citePositions(message: string, config: Pick<ResolvedConfig, "explain">): string {
  return message.replace(/^(\s*- )(\w[\w.-]*): /gm, (line, bullet: string, key: string) => {
    const { where } = config.explain(key).sources.find(({ won }) => won) ?? {};
    return where === undefined ? line : `${bullet}${key} (${where}): `;
  });
}
