type Json = Record<string, unknown>;

const AUTO_PORT = /^<auto-port:(.+)>$/;

/**
 * Replaces `<auto-port:N>` in the expectation with the assigned ports if they follow the rules: inside the range,
 * equal for equal labels, different for different labels, and different from the literal ports.
 */
export function fillAutoPorts(actual: Json, expected: Json): { expected: unknown } | { problem: string } {
  const ports = new Map<string, number>();
  const literal = new Set(Array.isArray(expected.disallowed_ports) ? expected.disallowed_ports : []);
  const low = Number(actual.port_range_low);
  const high = Number(actual.port_range_high);
  const problems: string[] = [];

  const fill = (want: unknown, got: unknown, path: string): unknown => {
    if (Array.isArray(want))
      return want.map((item, index) => fill(item, at(got, index), `${path}[${index}]`));
    if (typeof want === "object" && want !== null)
      return Object.fromEntries(
        Object.entries(want).map(([key, member]) => [key, fill(member, at(got, key), `${path}.${key}`)]),
      );
    const label = typeof want === "string" ? AUTO_PORT.exec(want)?.[1] : undefined;
    if (label === undefined) return want;
    const problem = portProblem(label, got);
    if (problem !== undefined) problems.push(`${path}: ${problem}`);
    return got;
  };

  const portProblem = (label: string, port: unknown): string | undefined => {
    if (typeof port !== "number" || !Number.isInteger(port))
      return `expected a port, got ${JSON.stringify(port)}`;
    if (port < low || port > high) return `port ${port} is outside ${low} to ${high}`;
    if (literal.has(port)) return `port ${port} is taken by another server`;
    const known = ports.get(label);
    if (known !== undefined && known !== port) return `expected port ${known} again, got ${port}`;
    const other = [...ports].find(([otherLabel, used]) => used === port && otherLabel !== label);
    if (other !== undefined) return `port ${port} was given twice`;
    ports.set(label, port);
    return undefined;
  };

  const filled = fill(expected, actual, "$");
  const [problem] = problems;
  return problem === undefined ? { expected: filled } : { problem };
}

function at(value: unknown, key: string | number): unknown {
  return typeof value === "object" && value !== null
    ? (value as Record<string | number, unknown>)[key]
    : undefined;
}
