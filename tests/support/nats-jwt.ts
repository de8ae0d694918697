import { createHash } from "node:crypto";
import { nkeys } from "@nats-io/transport-node";

type KeyPair = ReturnType<typeof nkeys.createUser>;

const base64url = (bytes: Uint8Array | string) => Buffer.from(bytes).toString("base64url");
const HEADER = base64url(JSON.stringify({ typ: "JWT", alg: "ed25519-nkey" }));

/** A token in the format of `nsc`: claims about `subject`, signed by `issuer`. */
function sign(issuer: KeyPair, subject: KeyPair, name: string, nats: object): string {
  const claims = {
    iat: Math.floor(Date.now() / 1000),
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name,
    nats: { version: 2, ...nats },
  };
  const jti = createHash("sha256").update(JSON.stringify(claims)).digest("hex").slice(0, 32);
  const body = `${HEADER}.${base64url(JSON.stringify({ jti, ...claims }))}`;
  return `${body}.${base64url(issuer.sign(new TextEncoder().encode(body)))}`;
}

const unlimited = { subs: -1, data: -1, payload: -1 };
const account = {
  type: "account",
  limits: { ...unlimited, imports: -1, exports: -1, conn: -1, leaf: -1, mem_storage: -1, disk_storage: -1 },
};

/** An operator with one account for runs: the config of the server, and the credentials of a user. */
export function makeOperator(): { config: string; creds: string; seed: string } {
  const [operator, system, gym] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount()];
  const user = nkeys.createUser();
  const systemId = system.getPublicKey();
  const operatorToken = sign(operator, operator, "test", { type: "operator", system_account: systemId });
  const userToken = sign(gym, user, "worker", { type: "user", ...unlimited, pub: {}, sub: {} });
  const preload = {
    [systemId]: sign(operator, system, "SYS", {
      type: "account",
      limits: { ...unlimited, conn: -1, leaf: -1 },
    }),
    [gym.getPublicKey()]: sign(operator, gym, "gym", account),
  };
  const seed = new TextDecoder().decode(user.getSeed());
  return {
    config: [
      `operator: ${operatorToken}`,
      `system_account: ${systemId}`,
      "resolver: MEMORY",
      `resolver_preload: ${JSON.stringify(preload)}`,
    ].join("\n"),
    creds: [
      "-----BEGIN NATS USER JWT-----",
      userToken,
      "------END NATS USER JWT------",
      "",
      "-----BEGIN USER NKEY SEED-----",
      seed,
      "------END USER NKEY SEED------",
      "",
    ].join("\n"),
    seed,
  };
}
