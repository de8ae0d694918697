const MCP = "mcp__";

/**
 * The bare name of a tool that an MCP client reached through `serverName`; names of other servers stay as they are.
 * Where no server is named, the prefix of any goes.
 */
export function stripMcpPrefix(name: string, serverName?: string | null): string {
  if (serverName != null) {
    const prefix = `${MCP}${serverName}__`;
    return name.startsWith(prefix) ? name.slice(prefix.length) : name;
  }
  const end = name.startsWith(MCP) ? name.indexOf("__", MCP.length) : -1;
  return end === -1 ? name : name.slice(end + 2);
}
