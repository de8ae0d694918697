/** Address and credentials of the broker. They are never written to files of a run. */
export interface BrokerSettings {
  /** `nats://host:4222`, several separated by commas; `tls://` requires TLS. */
  url: string;
  user?: string;
  password?: string;
  /** Authentication token. */
  token?: string;
  /** File with a JWT and its nkey seed, as `nsc` writes it. */
  credsFile?: string;
  /** File with an nkey seed. */
  nkeyFile?: string;
  /** Finds the nkey seed for a broker on this machine, at each connection, if nothing else is set. */
  findSeed?: () => string | undefined;
  /** uid of the user whose broker on this machine is trusted besides those of this user and of root; `any`: everybody's. */
  owner?: number | "any";
  /** Certificate authority, client certificate and key, PEM files. */
  caFile?: string;
  certFile?: string;
  keyFile?: string;
}
