import type { JsonObject } from "nemo-gym";
import { isObject, isTruthy } from "nemo-gym/python";
import {
  type Arguments,
  always,
  equals,
  newId,
  push,
  same,
  select,
  tool,
  WorldError,
  written,
} from "./world-tools.ts";

function userOf(world: JsonObject): JsonObject {
  const user = Object.hasOwn(world, "current_user") ? world["current_user"] : {};
  if (!isObject(user)) throw new WorldError("AttributeError", "current_user has no attribute 'get'");
  return user;
}

function senderOf(world: JsonObject, fallback: string): unknown {
  const { email, name = fallback } = userOf(world);
  return isTruthy(email ?? null) ? email : name;
}

function messagesIn(world: JsonObject, name: string): JsonObject[] {
  const messages = Object.hasOwn(world, name) ? world[name] : [];
  return (isObject(messages) ? Object.values(messages) : [...(messages as unknown[])]) as JsonObject[];
}

function recipientOf({ recipient, to, recipients }: Arguments): string {
  const given = [recipient, to, recipients].find((value) => isTruthy(value ?? null));
  if (Array.isArray(given)) return given.map(written).join(", ");
  return given === undefined ? "unknown" : written(given);
}

/** Messages, which six worlds share. They are a list or, by id, an object. */
export const messages = {
  send_message: tool("*", (world, given) => {
    const { from_, subject = "", body = "", case_id, related_claim_id } = given;
    const to = recipientOf(given);
    const from = isTruthy(from_ ?? null) ? from_ : senderOf(world, "system@example.com");
    const message: JsonObject = { from, to, subject, body, timestamp: "sent" };
    if (case_id !== undefined) message["case_id"] = case_id;
    if (related_claim_id !== undefined) message["related_claim_id"] = related_claim_id;
    const stored = world["messages"];
    if (isObject(stored)) {
      const id = newId("MSG-");
      message["message_id"] = id;
      stored[id] = message;
    } else {
      if (!Object.hasOwn(world, "messages")) world["messages"] = [];
      push(world["messages"], message);
    }
    return `Message sent to ${to}.`;
  }),
  get_messages: tool("*", (world, given) =>
    select(messagesIn(world, "messages"), given, {
      case_id: equals("case_id"),
      from_: same("from"),
      to: same("to"),
      is_read: always(equals("is_read")),
    }),
  ),
};

export const claimMessages = tool("claim_id", (world, { claim_id }) =>
  messagesIn(world, "messages").filter(
    (message) =>
      equals("related_claim_id").fits(message, claim_id) || equals("claim_id").fits(message, claim_id),
  ),
);

export const carrierMessages = {
  get_carrier_messages: tool("shipment_id? *", (world, given) =>
    select(messagesIn(world, "carrier_messages"), given, { shipment_id: equals("shipment_id") }),
  ),
  send_carrier_message: tool("to subject body", (world, { to, subject, body }) => {
    const id = newId("CM-");
    const from = senderOf(world, "system@logistics.example");
    const message = { message_id: id, from, to, subject, body, timestamp: "sent" };
    const stored = world["carrier_messages"];
    if (isObject(stored)) stored[id] = message;
    else {
      if (!Object.hasOwn(world, "carrier_messages")) world["carrier_messages"] = [];
      push(world["carrier_messages"], message);
    }
    return `Carrier message sent to ${written(to)}.`;
  }),
};

export const inbox = {
  send_email: tool("recipient subject body", (world, { recipient, subject, body }) => {
    const { email = "system@company.example" } = userOf(world);
    const name = Object.hasOwn(world, "inbox") ? "inbox" : "messages";
    if (!Object.hasOwn(world, name)) world[name] = [];
    push(world[name], { from: email, to: recipient, subject, body, timestamp: "sent" });
    return `Email sent to ${written(recipient)}.`;
  }),
  get_inbox: tool("", (world) => world["inbox"] ?? world["messages"] ?? []),
};
