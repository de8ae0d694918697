import { PyFloat, splitWords } from "nemo-gym/python";
import type { Cells, Row } from "../table.ts";
import { parseTimestamp } from "../timestamp.ts";
import { ToolError } from "../tool-error.ts";
import type { ToolSet, Workplace } from "../workplace.ts";
import { isFalsy, lowered, timestampOf } from "./arguments.ts";
import { paginate } from "./search.ts";

/** The clock of the workplace is fixed. */
const NOW = "2023-11-30 23:59:00";
const DAY = 86_400_000;

function send(workplace: Workplace, recipient: unknown, subject: unknown, body: unknown): void {
  workplace.emails.appendRenumbered({
    email_id: workplace.emails.nextId("email_id"),
    "inbox/outbox": "outbox",
    "sender/recipient": lowered(recipient),
    subject,
    sent_datetime: NOW,
    body,
  });
}

function isAddress(recipient: unknown): boolean {
  if (typeof recipient === "string" || Array.isArray(recipient))
    return recipient.includes("@") && recipient.includes(".");
  if (typeof recipient !== "object" || recipient === null || recipient instanceof PyFloat)
    throw new ToolError("argument of this type is not iterable");
  return Object.hasOwn(recipient, "@") && Object.hasOwn(recipient, ".");
}

/** Caches by row, because searches read the same few hundred rows repeatedly. */
const searchTexts = new WeakMap<Cells, string>();
const sendTimes = new WeakMap<Cells, number>();

function searchText(cells: Cells): string {
  let text = searchTexts.get(cells);
  if (text === undefined) {
    text = [cells["subject"], cells["body"], cells["sender/recipient"]]
      .map((cell) => (typeof cell === "string" ? cell : "nan"))
      .join(" ")
      .toLowerCase();
    searchTexts.set(cells, text);
  }
  return text;
}

function sendTime(cells: Cells): number {
  let time = sendTimes.get(cells);
  if (time === undefined) {
    time = parseTimestamp(String(cells["sent_datetime"]))?.time ?? Number.NaN;
    sendTimes.set(cells, time);
  }
  return time;
}

const dayOf = (time: number) => Math.floor(time / DAY);

function dayBound(value: unknown): number {
  const timestamp = timestampOf(value);
  if (timestamp === undefined)
    throw new ToolError(`Unknown datetime string format, unable to parse: ${String(value)}`);
  if (Number.isNaN(timestamp.time)) throw new ToolError("NaTType does not support date");
  return dayOf(timestamp.time);
}

interface SearchArguments {
  query?: unknown;
  date_min?: unknown;
  date_max?: unknown;
  page?: unknown;
  page_size?: unknown;
}

function searchEmails(workplace: Workplace, given: SearchArguments): unknown {
  const { query = "", date_min, date_max, page = 1, page_size = 5 } = given;
  let rows: readonly Row[] = workplace.emails.rows;
  if (!isFalsy(query)) {
    const words = splitWords(lowered(query));
    rows = rows.filter(({ cells }) => words.every((word) => searchText(cells).includes(word)));
  }
  const newestFirst = rows.map(({ cells }) => cells).sort((left, right) => sendTime(right) - sendTime(left));
  const emails = within(within(newestFirst, date_min, -1), date_max, 1);
  const shown = paginate(emails, page, page_size, "total_emails");
  return shown === undefined ? "No emails found." : { emails: shown.items, pagination: shown.pagination };
}

/** The emails not before (-1) or not after (1) a day. The day is parsed only when the first email is compared with it. */
function within(emails: readonly Cells[], day: unknown, forbidden: -1 | 1): readonly Cells[] {
  if (isFalsy(day) || emails.length === 0) return emails;
  const bound = dayBound(day);
  return emails.filter((cells) => Math.sign(dayOf(sendTime(cells)) - bound) !== forbidden);
}

export const emailTools: ToolSet = {
  email_get_email_information_by_id: {
    description: "Gives one field of an e-mail.",
    parameters: {
      email_id: { description: "Id of the e-mail", required: true },
      field: {
        description: "One of email_id, inbox/outbox, sender/recipient, subject, sent_datetime, body",
        required: true,
      },
    },
    run: ({ emails }, { email_id, field }) => {
      if (isFalsy(email_id)) return "Email ID not provided.";
      if (isFalsy(field)) return "Field not provided.";
      const email = emails.find("email_id", email_id);
      if (email === undefined) return "Email not found.";
      if (typeof field === "string" && emails.columns.includes(field)) return { [field]: email.cells[field] };
      return `Field '${String(field)}' not found. Available fields: ${emails.columns.join(", ")}`;
    },
  },
  email_search_emails: {
    description: "Searches subject, body and address of the e-mails, newest first, page by page.",
    parameters: {
      query: { description: "Words that must all occur" },
      date_min: { description: "First day to look at, as YYYY-MM-DD" },
      date_max: { description: "Last day to look at, as YYYY-MM-DD" },
      page: { description: "Number of the page", type: "integer" },
      page_size: { description: "E-mails per page", type: "integer" },
    },
    run: (workplace, given) => {
      try {
        return searchEmails(workplace, given);
      } catch (error) {
        if (error instanceof ToolError) return `Error searching emails: ${error.message}`;
        throw error;
      }
    },
  },
  email_send_email: {
    description: "Sends an e-mail.",
    changes: true,
    parameters: {
      recipient: { description: "Address to send it to", required: true },
      subject: { description: "Subject line", required: true },
      body: { description: "Text of the e-mail", required: true },
    },
    run: (workplace, { recipient, subject, body }) => {
      if (isFalsy(recipient) || isFalsy(subject) || isFalsy(body))
        return "Recipient, subject, or body not provided.";
      if (!isAddress(recipient)) return "Invalid recipient email address.";
      send(workplace, recipient, subject, body);
      return "Email sent successfully.";
    },
  },
  email_delete_email: {
    description: "Deletes an e-mail.",
    changes: true,
    parameters: { email_id: { description: "Id of the e-mail", required: true } },
    run: ({ emails }, { email_id }) => {
      if (isFalsy(email_id)) return "Email ID not provided.";
      return emails.delete("email_id", email_id) ? "Email deleted successfully." : "Email not found.";
    },
  },
  email_forward_email: {
    description: "Forwards an e-mail to somebody else.",
    changes: true,
    parameters: {
      email_id: { description: "Id of the e-mail", required: true },
      recipient: { description: "Address to forward it to", required: true },
    },
    run: (workplace, { email_id, recipient }) => {
      if (isFalsy(email_id) || isFalsy(recipient)) return "Email ID or recipient not provided.";
      if (!isAddress(recipient)) return "Invalid recipient email address.";
      const email = workplace.emails.find("email_id", email_id);
      if (email === undefined) return "Email not found.";
      send(workplace, recipient, `FW: ${String(email.cells["subject"])}`, email.cells["body"]);
      return "Email forwarded successfully.";
    },
  },
  email_reply_email: {
    description: "Answers an e-mail.",
    changes: true,
    parameters: {
      email_id: { description: "Id of the e-mail", required: true },
      body: { description: "Text of the answer", required: true },
    },
    run: (workplace, { email_id, body }) => {
      if (isFalsy(email_id) || isFalsy(body)) return "Email ID or body not provided.";
      const email = workplace.emails.find("email_id", email_id);
      if (email === undefined) return "Email not found.";
      send(workplace, email.cells["sender/recipient"], `RE: ${String(email.cells["subject"])}`, body);
      return "Email replied successfully.";
    },
  },
};
