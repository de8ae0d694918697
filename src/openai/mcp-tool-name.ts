/** The bare name of a tool that an MCP client reached through `serverName`; names of other servers stay as they are. */
export function stripMcpPrefix(name: string, serverName: string): string {
  const prefix = `mcp__${serverName}__`;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}
