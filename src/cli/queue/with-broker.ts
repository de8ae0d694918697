import { type Broker, connectBroker } from "../../queue/broker.ts";
import type { CommandContext } from "../command.ts";
import { readKeys } from "../config-keys.ts";
import { brokerKeys, brokerOf } from "./keys.ts";

/** Connects to the broker of a command for as long as `use` takes. */
export async function withBroker<T>(
  context: CommandContext,
  use: (broker: Broker) => Promise<T>,
): Promise<T> {
  const keys = readKeys(brokerKeys, await context.resolve());
  const broker = await connectBroker(brokerOf(keys, context.env), { name: "gym", onNotice: context.err });
  try {
    return await use(broker);
  } finally {
    await broker.close();
  }
}
