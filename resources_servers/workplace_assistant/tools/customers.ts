import { byCodePoint } from "nemo-gym/python";
import type { Row } from "../table.ts";
import type { ToolSet } from "../workplace.ts";
import { cellValue, isFalsy, isOneOf, lowered, textBound } from "./arguments.ts";
import { comparableCell, paginate, rowsContaining } from "./search.ts";

const STATUSES = ["Qualified", "Won", "Lost", "Lead", "Proposal"];
const PRODUCTS = ["Software", "Hardware", "Services", "Consulting", "Training"];
const CHANGEABLE = [
  "customer_name",
  "assigned_to_email",
  "customer_email",
  "customer_phone",
  "last_contact_date",
  "product_interest",
  "status",
  "notes",
  "follow_up_by",
];
const ID_DIGITS = 8;

const quoted = (choices: readonly string[]) => choices.map((choice) => `'${choice}'`).join(", ");

/** Filters by the content of a cell, in order of application. */
const TEXT_FILTERS = ["customer_name", "customer_email", "product_interest", "status", "assigned_to_email"];
/** Filters by a bound: argument, column, and the sign that the comparison must not have. */
const BOUND_FILTERS = [
  ["last_contact_date_min", "last_contact_date", -1],
  ["last_contact_date_max", "last_contact_date", 1],
  ["follow_up_by_min", "follow_up_by", -1],
  ["follow_up_by_max", "follow_up_by", 1],
] as const;
const FILTERS = [...TEXT_FILTERS, ...BOUND_FILTERS.map(([name]) => name)];

const customerId = { description: "Id of the customer, eight digits", required: true };

/** Bounds are compared as text: a bound without a time of day is before every moment of its day. */
function within(rows: readonly Row[], column: string, bound: unknown, forbidden: -1 | 1): readonly Row[] {
  return rows.filter(({ cells }) => {
    const cell = comparableCell(cells[column]);
    return cell !== undefined && Math.sign(byCodePoint(cell, textBound(bound))) !== forbidden;
  });
}

export const customerTools: ToolSet = {
  customer_relationship_manager_search_customers: {
    description: "Searches the customers page by page; every argument given must match.",
    parameters: {
      customer_name: { description: "What the name must contain" },
      customer_email: { description: "What the customer's address must contain" },
      product_interest: { description: "What the product interest must contain" },
      status: { description: "What the status must contain" },
      assigned_to_email: { description: "What the address of the customer's agent must contain" },
      last_contact_date_min: { description: "Earliest last contact, as YYYY-MM-DD" },
      last_contact_date_max: { description: "Latest last contact, as YYYY-MM-DD" },
      follow_up_by_min: { description: "Earliest follow-up date, as YYYY-MM-DD" },
      follow_up_by_max: { description: "Latest follow-up date, as YYYY-MM-DD" },
      page: { description: "Number of the page", type: "integer" },
      page_size: { description: "Customers per page", type: "integer" },
    },
    run: ({ customers }, given) => {
      if (FILTERS.every((name) => isFalsy(given[name]))) {
        return "No search parameters provided. Please provide at least one parameter.";
      }
      let rows: readonly Row[] = customers.rows;
      for (const name of TEXT_FILTERS)
        if (!isFalsy(given[name])) rows = rowsContaining(rows, name, given[name]);
      for (const [name, column, forbidden] of BOUND_FILTERS) {
        if (!isFalsy(given[name])) rows = within(rows, column, given[name], forbidden);
      }
      const { page = 1, page_size = 5 } = given;
      const shown = paginate(rows, page, page_size, "total_customers");
      if (shown === undefined) return "No customers found.";
      return { customers: shown.items.map(({ cells }) => cells), pagination: shown.pagination };
    },
  },
  customer_relationship_manager_update_customer: {
    description: "Changes one field of a customer's record.",
    changes: true,
    parameters: {
      customer_id: customerId,
      field: { description: `One of ${CHANGEABLE.join(", ")}`, required: true },
      new_value: { description: "What the field shall hold", required: true },
    },
    run: ({ customers }, { customer_id, field, new_value }) => {
      if (isFalsy(customer_id) || isFalsy(field) || isFalsy(new_value)) {
        return "Customer ID, field, or new value not provided.";
      }
      if (field === "status" && !isOneOf(new_value, STATUSES)) {
        return `Status not valid. Please choose from: ${quoted(STATUSES)}`;
      }
      if (field === "product_interest" && !isOneOf(new_value, PRODUCTS)) {
        return `Product interest not valid. Please choose from: ${quoted(PRODUCTS)}`;
      }
      const isAddress = field === "customer_email" || field === "assigned_to_email";
      const value = isAddress ? lowered(new_value) : new_value;
      if (customers.find("customer_id", customer_id) === undefined) return "Customer not found.";
      if (typeof field !== "string" || !customers.columns.includes(field)) {
        return `Field not valid. Please choose from: ${quoted(CHANGEABLE)}`;
      }
      customers.update("customer_id", customer_id, field, cellValue(value));
      return "Customer updated successfully.";
    },
  },
  customer_relationship_manager_add_customer: {
    description: "Adds a customer.",
    changes: true,
    parameters: {
      customer_name: { description: "Name of the customer", required: true },
      assigned_to_email: { description: "Address of the agent who looks after the customer", required: true },
      status: { description: `One of ${STATUSES.join(", ")}`, required: true },
      customer_email: { description: "Address of the customer" },
      customer_phone: { description: "Telephone number" },
      last_contact_date: { description: "Day of the last contact, as YYYY-MM-DD" },
      product_interest: { description: `One of ${PRODUCTS.join(", ")}` },
      notes: { description: "Notes about the customer" },
      follow_up_by: { description: "Day of the next contact, as YYYY-MM-DD" },
    },
    run: ({ customers }, given) => {
      const { customer_name, assigned_to_email, status, customer_email = null, notes = "" } = given;
      if (isFalsy(customer_name) || isFalsy(assigned_to_email) || isFalsy(status)) {
        return "Please provide all required fields: customer_name, assigned_to_email, status.";
      }
      const agent = lowered(assigned_to_email);
      const address = isFalsy(customer_email) ? customer_email : lowered(customer_email);
      const customer_id = customers.nextId("customer_id").padStart(ID_DIGITS, "0");
      const {
        customer_phone = null,
        last_contact_date = null,
        product_interest = null,
        follow_up_by = null,
      } = given;
      customers.appendRenumbered({
        customer_id,
        assigned_to_email: agent,
        customer_name,
        customer_email: address,
        customer_phone,
        last_contact_date,
        product_interest,
        status,
        follow_up_by,
        notes,
      });
      return customer_id;
    },
  },
  customer_relationship_manager_delete_customer: {
    description: "Deletes a customer.",
    changes: true,
    parameters: { customer_id: customerId },
    run: ({ customers }, { customer_id }) => {
      if (isFalsy(customer_id)) return "Customer ID not provided.";
      return customers.delete("customer_id", customer_id)
        ? "Customer deleted successfully."
        : "Customer not found.";
    },
  },
};
