import { spawnSync } from "node:child_process";

/** Makes the names of parallel test processes distinct. */
const PREFIX = `gq${process.pid % 10_000}`;

/** Hosts with separate addresses on one machine: network namespaces behind a bridge. */
export class TestNetwork {
  readonly #switch = `${PREFIX}-sw`;
  readonly #hosts: string[] = [];

  /** The reason why namespaces cannot be used here, if any. In CI that fails the tests. */
  static problem(): string | undefined {
    if (process.env["CI"]) return undefined;
    const name = `${PREFIX}-try`;
    const { status, stderr, error } = spawnSync("ip", ["netns", "add", name], { encoding: "utf8" });
    if (status !== 0) return error?.message ?? stderr.trim();
    spawnSync("ip", ["netns", "del", name]);
    return undefined;
  }

  constructor() {
    ip("netns", "add", this.#switch);
    ip("-n", this.#switch, "link", "add", "br0", "type", "bridge");
    ip("-n", this.#switch, "link", "set", "br0", "up");
  }

  /** Adds a host. Its programs run with the prefix `inside`. */
  host(): { address: string; inside: string[]; cut(): void; join(): void } {
    const number = this.#hosts.length + 1;
    const name = `${PREFIX}-${number}`;
    const outer = `p${number}`;
    const address = `10.77.${process.pid % 250}.${number}`;
    ip("netns", "add", name);
    this.#hosts.push(name);
    ip("-n", this.#switch, "link", "add", outer, "type", "veth", "peer", "name", "eth0", "netns", name);
    ip("-n", this.#switch, "link", "set", outer, "master", "br0", "up");
    ip("-n", name, "addr", "add", `${address}/24`, "dev", "eth0");
    ip("-n", name, "link", "set", "lo", "up");
    ip("-n", name, "link", "set", "eth0", "up");
    return {
      address,
      inside: ["ip", "netns", "exec", name],
      cut: () => ip("-n", this.#switch, "link", "set", outer, "down"),
      join: () => ip("-n", this.#switch, "link", "set", outer, "up"),
    };
  }

  close(): void {
    for (const name of [...this.#hosts, this.#switch]) spawnSync("ip", ["netns", "del", name]);
  }
}

function ip(...words: string[]): void {
  const { status, stderr, error } = spawnSync("ip", words, { encoding: "utf8" });
  if (status !== 0) throw new Error(`ip ${words.join(" ")}: ${error?.message ?? stderr}`);
}
