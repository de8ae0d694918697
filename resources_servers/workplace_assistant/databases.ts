import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { known, parseCsv, readTable } from "./read-csv.ts";
import type { Cells, Table } from "./table.ts";

export const COLUMNS = {
  calendar: ["event_id", "event_name", "participant_email", "event_start", "duration"],
  emails: ["email_id", "inbox/outbox", "sender/recipient", "subject", "sent_datetime", "body"],
  analytics: [
    "date_of_visit",
    "visitor_id",
    "page_views",
    "session_duration_seconds",
    "traffic_source",
    "user_engaged",
  ],
  tasks: ["task_id", "task_name", "assigned_to_email", "list_name", "due_date", "board"],
  customers: [
    "customer_id",
    "assigned_to_email",
    "customer_name",
    "customer_email",
    "customer_phone",
    "last_contact_date",
    "product_interest",
    "status",
    "follow_up_by",
    "notes",
  ],
} as const;

export const FILES = {
  calendar: "processed/calendar_events.csv",
  emails: "processed/emails.csv",
  analytics: "processed/analytics_data.csv",
  tasks: "processed/project_tasks.csv",
  customers: "processed/customer_relationship_manager_data.csv",
  directory: "raw/email_addresses.csv",
} as const;

/** The initial state of every rollout. */
export interface Databases {
  calendar: Table;
  emails: Table;
  /** Visits; they never change. */
  analytics: readonly Cells[];
  tasks: Table;
  customers: Table;
  /** E-mail addresses of the company. */
  directory: readonly (string | null)[];
}

/** Reads the six files below a folder. */
export async function loadDatabases(directory: string): Promise<Databases> {
  const text = (name: keyof typeof FILES) => readFile(join(directory, FILES[name]), "utf8");
  const table = async (name: keyof typeof COLUMNS) => readTable(await text(name), COLUMNS[name], FILES[name]);
  const [calendar, emails, visits, tasks, customers, addresses] = await Promise.all([
    table("calendar"),
    table("emails"),
    table("analytics"),
    table("tasks"),
    table("customers"),
    text("directory"),
  ]);
  return {
    calendar,
    emails,
    analytics: visits.rows.map(({ cells }) => ({ ...cells, user_engaged: cells["user_engaged"] === "True" })),
    tasks,
    customers,
    directory: parseCsv(addresses).map(([address = ""]) => known(address)),
  };
}
