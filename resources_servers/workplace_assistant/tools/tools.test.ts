import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, it } from "vitest";
import { loadDatabases } from "../databases.ts";
import { ToolError } from "../tool-error.ts";
import { Workplace } from "../workplace.ts";
import { toolDeclarations, tools } from "./index.ts";

const databases = await loadDatabases(fileURLToPath(new URL("../csv_data", import.meta.url)));
let workplace: Workplace;
// biome-ignore lint/suspicious/noExplicitAny: the replies' shapes are what the tests assert
const call = (name: string, given: Record<string, unknown> = {}): any => workplace.call(tools, name, given);

beforeEach(() => {
  workplace = new Workplace(databases);
});

describe("tools", () => {
  it("declare 27 tools", () => {
    expect(Object.keys(tools)).toHaveLength(27);
    expect(toolDeclarations().map(({ name }) => name)).toEqual(Object.keys(tools));
  });

  it("refuse unknown names and arguments", () => {
    for (const name of ["no_such_tool", "toString", "__proto__"]) expect(() => call(name)).toThrow(ToolError);
    expect(() => call("email_send_email", { to: "x" })).toThrow("unexpected keyword argument 'to'");
    expect(() => call("calendar_search_events", { toString: "x" })).toThrow(ToolError);
  });
});

describe("company directory", () => {
  it("finds addresses by pattern", () => {
    expect(call("company_directory_find_email_address", { name: "KEIKO" })).toEqual([
      "keiko.mori@fernhill.example",
    ]);
    expect(call("company_directory_find_email_address", { name: "^m.*n" })).toContain(
      "mara.lindqvist@fernhill.example",
    );
    expect(call("company_directory_find_email_address")).toBe("Name not provided.");
    expect(() => call("company_directory_find_email_address", { name: "(" })).toThrow(ToolError);
    expect(() => call("company_directory_find_email_address", { name: 5 })).toThrow(ToolError);
  });
});

describe("e-mail", () => {
  it("finds e-mails that contain all words, newest first", () => {
    const { emails, pagination } = call("email_search_emails", { query: "Banner KEIKO", page_size: 2 });
    expect(emails[0]["email_id"]).toBe("00000384");
    expect(pagination).toMatchObject({ page: 1, page_size: 2 });
    const november = call("email_search_emails", { date_min: "2023-11-30", page_size: 100 }).emails;
    expect(
      november.every((email: Record<string, string>) => email["sent_datetime"]?.startsWith("2023-11-30")),
    ).toBe(true);
    expect(call("email_search_emails", { query: "no such words" })).toBe("No emails found.");
    for (const given of [{ page_size: 0 }, { page: "2" }, { date_max: "garbage" }, { query: 5 }]) {
      expect(call("email_search_emails", given)).toMatch(/^Error searching emails: /);
    }
  });

  it("sends, forwards and replies with increasing ids", () => {
    expect(call("email_forward_email", { email_id: "00000384", recipient: "Wei.Lin@fernhill.example" })).toBe(
      "Email forwarded successfully.",
    );
    expect(call("email_reply_email", { email_id: "00000384", body: "Thanks" })).toBe(
      "Email replied successfully.",
    );
    const sent = workplace.emails.rows.slice(-2).map(({ cells }) => cells);
    expect(sent).toMatchObject([
      {
        email_id: "500",
        "sender/recipient": "wei.lin@fernhill.example",
        subject: expect.stringMatching(/^FW: /),
      },
      { email_id: "501", "sender/recipient": "keiko.mori@fernhill.example", body: "Thanks" },
    ]);
    expect(call("email_send_email", { recipient: "a@b", subject: "s", body: "b" })).toBe(
      "Invalid recipient email address.",
    );
    expect(call("email_send_email", { recipient: "a@b.c", subject: "", body: "b" })).toBe(
      "Recipient, subject, or body not provided.",
    );
  });

  it("returns single fields", () => {
    expect(
      call("email_get_email_information_by_id", { email_id: "00000384", field: "inbox/outbox" }),
    ).toEqual({
      "inbox/outbox": "inbox",
    });
    expect(call("email_get_email_information_by_id", { email_id: "00000384", field: "cc" })).toMatch(
      "Field 'cc' not found. Available fields: email_id, inbox/outbox",
    );
    expect(call("email_get_email_information_by_id", { email_id: "x", field: "cc" })).toBe(
      "Email not found.",
    );
  });
});

describe("calendar", () => {
  it("creates, changes and deletes events", () => {
    const event = {
      event_name: "Tea",
      participant_email: "A@B.C",
      event_start: "2023-12-05 10:00",
      duration: "30",
    };
    expect(call("calendar_create_event", event)).toBe("00000300");
    expect(call("calendar_update_event", { event_id: "00000300", field: "duration", new_value: 45 })).toBe(
      "Event updated successfully.",
    );
    expect(workplace.calendar.rows.at(-1)).toMatchObject({
      label: 0,
      cells: { participant_email: "a@b.c", duration: 45 },
    });
    expect(call("calendar_delete_event", { event_id: "00000300" })).toBe("Event deleted successfully.");
    expect(call("calendar_delete_event", { event_id: "300" })).toBe(
      "Invalid event ID format. Expected 8-digit ID.",
    );
  });

  it.each([
    [{ event_name: 0 }, "Event name not provided."],
    [{ event_start: "soon" }, "Invalid event_start format. Expected YYYY-MM-DD HH:MM:SS."],
    [{ duration: "-5" }, "Duration must be a positive number of minutes."],
    [{ duration: "half an hour" }, "Invalid duration format. Expected a number of minutes."],
  ])("checks %j", (change, message) => {
    const event = {
      event_name: "Tea",
      participant_email: "a@b.c",
      event_start: "2023-12-05 10:00",
      duration: "30",
    };
    expect(call("calendar_create_event", { ...event, ...change })).toBe(message);
    expect(workplace.calendar.rows).toBe(databases.calendar.rows);
  });

  it("searches by name, participant and time", () => {
    const { events, pagination } = call("calendar_search_events", {
      query: "lab tour",
      time_min: "December 1, 2023",
    });
    expect(events.map((event: Record<string, string>) => event["event_id"])).toEqual([
      "00000102",
      "00000136",
    ]);
    expect(pagination).toEqual({ total_events: 2, page: 1, page_size: 5, total_pages: 1 });
    expect(call("calendar_search_events", { time_min: "bad" })).toBe(
      "Invalid time_min format. Expected YYYY-MM-DD HH:MM:SS.",
    );
    expect(call("calendar_search_events", { query: "zzz" })).toBe("No events found.");
    expect(call("calendar_search_events", { page: 99 }).pagination).toMatchObject({
      page: 60,
      total_pages: 60,
    });
    expect(() => call("calendar_search_events", { time_max: "2023-12-01T00:00Z" })).toThrow("tz-naive");
    expect(() => call("calendar_search_events", { query: 5 })).toThrow(ToolError);
  });
});

describe("analytics", () => {
  it("counts visits by day", () => {
    const days = { time_min: "2023-11-28", time_max: "2023-11-29" };
    const visits = call("analytics_total_visits_count", days);
    expect(Object.keys(visits)).toEqual(["2023-11-28", "2023-11-29"]);
    expect(call("analytics_traffic_source_count", days)).toEqual(visits);
    const direct = call("analytics_traffic_source_count", { ...days, traffic_source: "direct" });
    expect(direct["2023-11-28"]).toBeLessThan(visits["2023-11-28"]);
    expect(call("analytics_traffic_source_count", { ...days, traffic_source: "post" })["2023-11-28"]).toBe(0);
    expect(() => call("analytics_total_visits_count", { time_min: 5 })).toThrow(ToolError);
  });

  it("returns durations as numbers after an average was computed", () => {
    const visitor_id = databases.analytics[0]?.["visitor_id"];
    const before = call("analytics_get_visitor_information_by_id", { visitor_id });
    expect(before[0].session_duration_seconds).toBeTypeOf("string");
    call("analytics_get_average_session_duration");
    const after = call("analytics_get_visitor_information_by_id", { visitor_id });
    expect(after[0].session_duration_seconds).toBe(Number(before[0].session_duration_seconds));
  });

  it("records the charts that it creates", () => {
    const chart = {
      time_min: "2023-11-01",
      time_max: "2023-11-02",
      value_to_plot: "user_engaged",
      plot_type: "bar",
    };
    expect(call("analytics_create_plot", chart)).toBe("plots/2023-11-01_2023-11-02_user_engaged_bar.png");
    expect(call("analytics_create_plot", { ...chart, plot_type: "pie" })).toMatch(
      /^Plot type must be one of/,
    );
    expect(call("analytics_create_plot", { ...chart, value_to_plot: "visits" })).toMatch(
      /^Value to plot must be one of/,
    );
    expect(workplace.plots.rows).toHaveLength(1);
  });
});

describe("project management", () => {
  it("assigns tasks only to team members, on known lists and boards", () => {
    const task = {
      task_name: "Test",
      assigned_to_email: "Joon.Park@fernhill.example",
      list_name: "Backlog",
      due_date: "2023-12-24",
      board: "Design",
    };
    expect(call("project_management_create_task", task)).toBe("00000300");
    expect(
      call("project_management_create_task", { ...task, assigned_to_email: "wei.lin@fernhill.example" }),
    ).toMatch(/^Assignee/);
    expect(call("project_management_create_task", { ...task, list_name: "Todo" })).toMatch(/^List not valid/);
    expect(call("project_management_create_task", { ...task, board: "Back End" })).toMatch(
      /^Board not valid/,
    );
    expect(call("project_management_create_task", { ...task, due_date: "" })).toBe("Missing task details.");
  });

  it("searches tasks", () => {
    const found = call("project_management_search_tasks", {
      assigned_to_email: "PRIYA.raman@fernhill.example",
      list_name: "review",
      board: "front",
    });
    expect(found.map((task: Record<string, string>) => task["task_id"])).toContain("00000242");
    expect(call("project_management_search_tasks", { assigned_to_email: "priya" })).toMatch(
      /^Invalid email format/,
    );
    expect(call("project_management_search_tasks", {})).toBe("No search parameters provided.");
    workplace.tasks.update("task_id", "00000242", "task_name", 5);
    expect(() => call("project_management_search_tasks", { task_name: "x" })).toThrow(ToolError);
  });
});

describe("customers", () => {
  it("compares dates as text", () => {
    const whole = call("customer_relationship_manager_search_customers", {
      last_contact_date_min: "2023-11-30",
    });
    const none = call("customer_relationship_manager_search_customers", {
      last_contact_date_min: "2023-11-30",
      last_contact_date_max: "2023-11-30",
    });
    expect(whole.pagination.total_customers).toBeGreaterThan(0);
    expect(none).toBe("No customers found.");
  });

  it("adds a customer with the given fields, and cannot search missing addresses", () => {
    const given = { customer_name: "New Guy", assigned_to_email: "GRETA@x.y", status: "Whatever" };
    expect(call("customer_relationship_manager_add_customer", given)).toBe("00000200");
    expect(workplace.customers.rows.at(-1)?.cells).toMatchObject({
      assigned_to_email: "greta@x.y",
      customer_email: null,
      notes: "",
    });
    expect(
      call("customer_relationship_manager_search_customers", { customer_name: "new guy" }).customers,
    ).toHaveLength(1);
    expect(() => call("customer_relationship_manager_search_customers", { customer_email: "x" })).toThrow(
      ToolError,
    );
    expect(call("customer_relationship_manager_search_customers", { page: 2 })).toMatch(
      /^No search parameters provided/,
    );
  });

  it("validates the new value when it changes a record", () => {
    const change = (field: string, new_value: unknown) =>
      call("customer_relationship_manager_update_customer", { customer_id: "00000007", field, new_value });
    expect(change("status", "won")).toMatch(/^Status not valid/);
    expect(change("product_interest", "Games")).toMatch(/^Product interest not valid/);
    expect(change("zip", "1")).toMatch(/^Field not valid/);
    expect(change("customer_id", "00000999")).toBe("Customer updated successfully.");
    expect(change("status", "Won")).toBe("Customer not found.");
    expect(
      call("customer_relationship_manager_add_customer", {
        customer_name: "a",
        assigned_to_email: "b",
        status: "c",
      }),
    ).toBe("00001000");
  });
});

describe("pages", () => {
  it("follow Python's arithmetic for unusual sizes", () => {
    const { events, pagination } = call("calendar_search_events", { query: "lab tour", page_size: -5 });
    expect(pagination).toMatchObject({ page: 1, page_size: -5 });
    expect(events).toHaveLength(pagination.total_events - 5);
    expect(call("calendar_search_events", { page: true }).pagination.page).toBe(1);
    for (const given of [{ page: 1.5 }, { page_size: "5" }, { page_size: null }]) {
      expect(() => call("calendar_search_events", given)).toThrow(ToolError);
    }
  });
});

describe("invalid numbers and bounds", () => {
  const search = (given: Record<string, unknown>) => call("email_search_emails", given);

  it("are refused only if they are used", () => {
    expect(search({ query: "nosuchword", date_min: "garbage" })).toBe("No emails found.");
    expect(search({ query: "nosuchword", page_size: 0 })).toMatch(/^Error searching emails/);
    expect(search({ date_min: "garbage" })).toMatch(/^Error searching emails/);
    expect(search({ page: 1.5, page_size: 1000 }).pagination.page).toBe(1);
    expect(search({ page: 1.5, page_size: 1 })).toMatch(/^Error searching emails/);
    const customers = "customer_relationship_manager_search_customers";
    expect(call(customers, { customer_name: "nosuchname", page: 1.5, page_size: -1 })).toBe(
      "No customers found.",
    );
    expect(call(customers, { customer_name: "nosuchname", follow_up_by_min: 5 })).toBe("No customers found.");
    expect(() => call(customers, { follow_up_by_min: 5 })).toThrow(ToolError);
    expect(call("analytics_total_visits_count", { time_min: "9999", time_max: 5 })).toEqual({});
    expect(() => call("analytics_total_visits_count", { time_max: 5 })).toThrow(ToolError);
  });

  it("treat a list as an address without @", () => {
    expect(call("email_send_email", { recipient: ["a"], subject: "s", body: "b" })).toBe(
      "Invalid recipient email address.",
    );
    expect(() => call("email_send_email", { recipient: 5, subject: "s", body: "b" })).toThrow(ToolError);
  });
});

describe("hostile patterns", () => {
  it("take bounded time", () => {
    for (const query of [
      "(a+)+$",
      "(.*)*x",
      "(?:a|a)*b",
      `${"(".repeat(50)}a${")".repeat(50)}`,
      "x*".repeat(2000),
    ]) {
      try {
        call("calendar_search_events", { query });
      } catch (error) {
        expect(error).toBeInstanceOf(ToolError);
      }
    }
    call("project_management_search_tasks", { assigned_to_email: `${"a".repeat(1_000_000)}!` });
    call("project_management_search_tasks", { assigned_to_email: `a@${"a.".repeat(500_000)}1` });
    call("email_search_emails", { query: "word ".repeat(200_000) });
  });
});
