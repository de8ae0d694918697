/**
 * Generates the databases of this environment: an invented company, drawn with a fixed seed.
 *
 * Usage: generate-databases.ts [FOLDER]   (default: csv_data beside this file)
 */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { byCodePoint, PyRandom } from "nemo-gym/python";
import { COLUMNS, FILES } from "./databases.ts";
import {
  COMPANIES,
  EVENTS,
  FAMILY_NAMES,
  GIVEN_NAMES,
  MAIL_PHRASES,
  NOTES,
  STAFF,
  TASKS,
} from "./invented-company.ts";

const SEED = 20231130;
const DAY = 86_400_000;
const COUNTS = { calendar: 300, emails: 500, analytics: 1000, tasks: 300, customers: 200 };
const DOMAIN = "fernhill.example";
/** Members of the project board, and account managers of customers. */
const DEVELOPERS = STAFF.slice(0, 9);
const AGENTS = STAFF.slice(9, 15);

type CsvRecord = Record<string, string>;

const day = (text: string) => Date.parse(`${text}T00:00:00Z`);
const dateText = (time: number) => new Date(time).toISOString().slice(0, 10);
const timeText = (time: number) => new Date(time).toISOString().slice(0, 19).replace("T", " ");
const addressOf = (name: string) => `${name.toLowerCase().replace(" ", ".")}@${DOMAIN}`;

/** Ids in random order, as if the records had been created in another order. */
function shuffledIds(random: PyRandom, count: number): string[] {
  return random.shuffle(Array.from({ length: count }, (_, index) => String(index).padStart(8, "0")));
}

function isWorkday(time: number): boolean {
  const weekday = new Date(time).getUTCDay();
  return weekday !== 0 && weekday !== 6;
}

function drawWorkday(random: PyRandom, first: string, last: string): number {
  for (;;) {
    const time = day(first) + random.int(0, (day(last) - day(first)) / DAY) * DAY;
    if (isWorkday(time)) return time;
  }
}

function calendar(random: PyRandom): CsvRecord[] {
  const ids = shuffledIds(random, COUNTS.calendar);
  const drawn = ids.map((event_id) => {
    const duration = random.choice([30, 60, 90, 120]);
    const halfHours = random.int(18, 36 - duration / 30);
    const start = drawWorkday(random, "2023-08-01", "2023-12-21") + halfHours * 1_800_000;
    const participant_email = addressOf(random.choice(STAFF));
    return {
      start,
      event_id,
      event_name: random.choice(EVENTS),
      participant_email,
      duration: String(duration),
    };
  });
  return drawn
    .sort((left, right) => left.start - right.start)
    .map(({ start, ...event }) => ({ ...event, event_start: timeText(start) }));
}

function emails(random: PyRandom): CsvRecord[] {
  const subjects = [
    ...EVENTS.map((name) => ({ about: name, kind: "event" })),
    ...allTasks().map(({ name }) => ({ about: name, kind: "task" })),
  ];
  const times = Array.from({ length: COUNTS.emails }, () => {
    const seconds = random.int(9 * 3600, 18 * 3600 - 1);
    return day("2023-10-01") + random.int(0, 60) * DAY + seconds * 1000;
  }).sort((left, right) => left - right);
  return shuffledIds(random, COUNTS.emails).map((email_id, index) => {
    const person = random.choice(STAFF);
    const { about, kind } = random.choice(subjects);
    const outgoing = random.random() < 0.12;
    const given = person.split(" ")[0] ?? "";
    const [opening, closing] = outgoing
      ? [`Hi ${given},`, "Best,\\nRobin"]
      : ["Hi Robin,", `Best,\\n${given}`];
    const middle = random.choice(MAIL_PHRASES).replace("%", about);
    return {
      email_id,
      "inbox/outbox": outgoing ? "outbox" : "inbox",
      "sender/recipient": addressOf(person),
      subject: `${kind === "event" ? "About the" : "Progress on"} ${about}`,
      sent_datetime: timeText(times[index] ?? 0),
      // Line breaks are written as a backslash and an n, as in the original tables.
      body: `${opening}\\n\\n${middle}\\n\\n${closing}`,
    };
  });
}

function analytics(random: PyRandom): CsvRecord[] {
  const sources = ["direct", "direct", "direct", "referral", "search engine", "social media"];
  return Array.from({ length: COUNTS.analytics }, () => ({
    date_of_visit: dateText(day("2023-09-01") + random.int(0, 90) * DAY),
    visitor_id: String(random.int(0, 9999)).padStart(4, "0"),
    page_views: String(random.int(1, 19)),
    session_duration_seconds: String(random.int(1, 60)),
    traffic_source: random.choice(sources),
    user_engaged: random.random() < 0.5 ? "True" : "False",
  }));
}

function allTasks(): { name: string; board: string }[] {
  return Object.entries(TASKS).flatMap(([board, names]) => names.map((name) => ({ name, board })));
}

function tasks(random: PyRandom): CsvRecord[] {
  const drawn = shuffledIds(random, COUNTS.tasks).map((task_id) => {
    const { name, board } = random.choice(allTasks());
    return {
      task_id,
      task_name: name,
      assigned_to_email: addressOf(random.choice(DEVELOPERS)),
      list_name: random.choice(["Backlog", "In Progress", "In Review", "Completed", "Completed"]),
      due_date: dateText(drawWorkday(random, "2023-11-20", "2023-12-15")),
      board,
    };
  });
  return drawn.sort((left, right) => byCodePoint(left.due_date, right.due_date));
}

function customers(random: PyRandom): CsvRecord[] {
  const drawn = shuffledIds(random, COUNTS.customers).map((customer_id) => {
    const name = `${random.choice(GIVEN_NAMES)} ${random.choice(FAMILY_NAMES)}`;
    const contact = day("2023-10-15") + random.int(0, 46) * DAY;
    const notes = Array.from({ length: random.int(0, 3) }, () => {
      return `${dateText(contact - random.int(0, 30) * DAY)}: ${random.choice(NOTES)}`;
    });
    return {
      customer_id,
      assigned_to_email: addressOf(random.choice(AGENTS)),
      customer_name: name,
      customer_email: `${name.toLowerCase().replace(" ", ".")}@${random.choice(COMPANIES)}.example`,
      customer_phone: random.random() < 0.4 ? "" : `555-01${random.int(0, 9)}${random.int(0, 9)}`,
      last_contact_date: `${dateText(contact)} 23:59:00`,
      product_interest: random.choice(["Software", "Hardware", "Services", "Consulting", "Training"]),
      status: random.choice(["Lead", "Lead", "Qualified", "Proposal", "Won", "Lost"]),
      follow_up_by: `${dateText(contact + random.int(7, 28) * DAY)} 23:59:00`,
      notes: notes.join(" "),
    };
  });
  return drawn.sort((left, right) => byCodePoint(right.last_contact_date, left.last_contact_date));
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")}\n`;
}

function csvText(columns: readonly string[], records: readonly CsvRecord[]): string {
  return (
    csvLine(columns) +
    records.map((record) => csvLine(columns.map((column) => record[column] ?? ""))).join("")
  );
}

/** The text of every database file by its path. */
export function databaseFiles(): Map<string, string> {
  const random = new PyRandom(SEED);
  return new Map([
    [FILES.calendar, csvText(COLUMNS.calendar, calendar(random))],
    [FILES.emails, csvText(COLUMNS.emails, emails(random))],
    [FILES.analytics, csvText(COLUMNS.analytics, analytics(random))],
    [FILES.tasks, csvText(COLUMNS.tasks, tasks(random))],
    [FILES.customers, csvText(COLUMNS.customers, customers(random))],
    [FILES.directory, STAFF.map((name) => `${addressOf(name)}\n`).join("")],
  ]);
}

async function main(): Promise<void> {
  const here = dirname(fileURLToPath(import.meta.url));
  const folder = process.argv[2] ?? join(here, "csv_data");
  for (const [path, text] of databaseFiles()) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
