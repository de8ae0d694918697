import type { JsonObject } from "nemo-gym";
import { pyTypeName } from "nemo-gym/python";
import { carrierMessages, claimMessages, inbox, messages } from "./messages.ts";
import {
  add,
  always,
  append,
  assign,
  atLeast,
  atMost,
  below,
  contains,
  create,
  equals,
  fill,
  find,
  firstOf,
  from,
  fullName,
  get,
  list,
  nameOrCondition,
  newId,
  notFound,
  same,
  send,
  type Tool,
  tool,
  until,
  update,
  WorldError,
} from "./world-tools.ts";

const healthcare = {
  search_patients: list("patients", "query", { query: nameOrCondition }, ["patient_id", "name"]),
  get_patient_record: get("patients", "patient_id", "Patient"),
  update_patient_chart: append(
    "patients",
    "patient_id",
    "Patient",
    ["notes", "chart_notes"],
    "Chart updated for patient {patient_id}.",
  ),
  get_schedule: list("appointments", "date", { date: always(equals("date")) }),
  schedule_appointment: create(
    "appointments",
    ["appointment_id", "A"],
    "patient_id date time reason",
    "patient_id date time reason status=scheduled",
    "Appointment {appointment_id} scheduled for patient {patient_id} on {date} at {time}.",
  ),
  cancel_appointment: tool("appointment_id", (world, { appointment_id }) => {
    const appointment = find(world, "appointments", appointment_id);
    if (!appointment) return fill("Error: Appointment {appointment_id} not found.", { appointment_id });
    appointment["status"] = "cancelled";
    return fill("Appointment {appointment_id} has been cancelled.", { appointment_id });
  }),
  send_referral: send(
    "referral",
    "patient_id specialist_email reason",
    "Referral sent for patient {patient_id} to {specialist_email}.",
  ),
  prescribe_medication: tool("patient_id medication dosage instructions", (world, given) => {
    const { patient_id, medication, dosage, instructions } = given;
    const before = find(world, "prescriptions", patient_id) as unknown as JsonObject[] | undefined;
    const prescriptions = [...(before ?? []), { medication, dosage, instructions }];
    add(world, "prescriptions", String(patient_id), prescriptions as unknown as JsonObject);
    return fill("Prescribed {medication} {dosage} for patient {patient_id}.", given);
  }),
  get_prescriptions: tool(
    "patient_id",
    (world, { patient_id }) => find(world, "prescriptions", patient_id) ?? [],
  ),
  get_lab_results: tool(
    "patient_id",
    (world, { patient_id }) => find(world, "lab_results", patient_id) ?? [],
  ),
};

const candidateText = contains("name", "resume", "application_notes", "position_applied");

const hr = {
  search_candidates: list(
    "candidates",
    "query status?",
    { query: always(candidateText), status: always(same("status")) },
    ["candidate_id", "name"],
  ),
  get_candidate_profile: get("candidates", "candidate_id", "Candidate"),
  update_candidate_status: update(
    "candidates",
    "candidate_id",
    "Candidate",
    "status",
    "Status updated for candidate {candidate_id} to '{status}'.",
  ),
  schedule_interview: create(
    "interviews",
    ["interview_id", "I-"],
    "candidate_id interviewer_email date time",
    "candidate_id interviewer_email date time status=scheduled",
    "Interview {interview_id} scheduled for candidate {candidate_id} on {date} at {time}.",
  ),
  get_interview_schedule: list("interviews", "date?", { date: always(equals("date")) }),
  submit_interview_feedback: tool("candidate_id feedback rating", (world, given) => {
    const interviews = Object.values((world["interviews"] ?? {}) as Record<string, JsonObject>);
    const interview = interviews.find((one) => equals("candidate_id").fits(one, given["candidate_id"]));
    if (interview) assign(interview, "feedback rating", given);
    else {
      const interview_id = newId("I-");
      const record: JsonObject = { interview_id };
      assign(record, "candidate_id feedback rating", given);
      add(world, "interviews", interview_id, record);
    }
    return fill("Feedback submitted for candidate {candidate_id}.", given);
  }),
  send_offer: send(
    "offer",
    "candidate_id position salary start_date",
    "Offer sent to candidate {candidate_id} for position '{position}'.",
  ),
  ...inbox,
  get_open_positions: list("open_positions", ""),
  create_job_posting: create(
    "open_positions",
    ["position_id", "POS-"],
    "title description requirements",
    "title description requirements status=open",
    "Job posting '{title}' created with ID {position_id}.",
  ),
};

const ecommerce = {
  search_orders: list("orders", "customer_id? status? *", {
    customer_id: equals("customer_id"),
    status: same("status"),
  }),
  get_order_details: get("orders", "order_id", "Order"),
  update_order_status: update(
    "orders",
    "order_id",
    "Order",
    "status",
    "Order {order_id} status updated to '{status}'.",
  ),
  add_order_note: append("orders", "order_id", "Order", ["note", "notes"], "Note added to order {order_id}."),
  search_products: list("products", "query? category? *", {
    category: same("category"),
    query: contains("name", "description"),
  }),
  get_product_details: get("products", "product_id", "Product"),
  update_product_stock: update(
    "products",
    "product_id",
    "Product",
    "stock_quantity",
    "Stock updated for product {product_id} to {stock_quantity}.",
  ),
  process_refund: tool("refund_id amount reason? admin_notes?", (world, given) => {
    const refund = find(world, "refunds", given["refund_id"]);
    if (refund) assign(refund, "status=processed amount reason? admin_notes?", given);
    else {
      const record: JsonObject = {};
      assign(record, "refund_id amount status=processed reason? admin_notes?", given);
      add(world, "refunds", String(given["refund_id"]), record);
    }
    return fill("Refund {refund_id} processed for ${amount}.", given);
  }),
  create_support_ticket: create(
    "support_tickets",
    ["ticket_id", "T-"],
    "customer_id subject description order_id? priority=medium",
    "customer_id subject description status=open priority order_id?",
    "Support ticket {ticket_id} created.",
  ),
  get_ticket_details: get("support_tickets", "ticket_id", "Ticket"),
  update_ticket_status: update(
    "support_tickets",
    "ticket_id",
    "Ticket",
    "status priority?",
    "Ticket {ticket_id} updated to status '{status}'.",
  ),
};

const education = {
  list_courses: list("courses", "department? *", { department: same("department") }),
  get_course_detail: get("courses", "course_id", "Course"),
  create_course: create(
    "courses",
    ["course_id", "C-"],
    "course_code title description credits department instructor_id schedule *",
    "course_code title description credits department instructor_id schedule",
    "Course '{title}' ({course_code}) created with ID {course_id}.",
  ),
  get_financial_aid: list("financial_aid", "student_id", {
    student_id: always(equals("student_id")),
  }),
  adjust_financial_aid: tool("aid_id amount? status? reviewer_notes? *", (world, given) => {
    const record = find(world, "financial_aid", given["aid_id"]);
    if (!record) return notFound("Financial aid record", given["aid_id"]);
    assign(record, "amount+ status+ reviewer_notes+", given);
    return record;
  }),
  get_grades_for_student: list("grades", "student_id", {
    student_id: always(equals("student_id")),
  }),
  submit_grade: create(
    "grades",
    ["grade_id", "G-"],
    "student_id course_id assignment_name score max_score grader_comments= *",
    "student_id course_id assignment_name score max_score grader_comments",
    "Grade submitted for student {student_id} in course {course_id}.",
  ),
  search_students: list("students", "name? major? email? *", {
    name: fullName,
    major: contains("major"),
    email: same("email"),
  }),
  get_student_record: get("students", "student_id", "Student"),
  update_student_advisor_notes: append(
    "students",
    "student_id",
    "Student",
    ["notes", "advisor_notes"],
    "Advisor notes updated for student {student_id}.",
  ),
};

const insurance = {
  add_adjuster_note: create(
    "adjuster_notes",
    ["note_id", "AN-"],
    "claim_id adjuster_id note_text",
    "claim_id adjuster_id note_text timestamp=created",
  ),
  get_adjuster_notes_for_claim: list("adjuster_notes", "claim_id", {
    claim_id: always(equals("claim_id")),
  }),
  create_claim: create(
    "claims",
    ["claim_id", "CL-"],
    "policy_id claim_number date_of_loss description claim_type amount_requested adjuster_id",
    "policy_id claim_number date_of_loss description claim_type amount_requested status=open adjuster_id",
  ),
  get_claim_by_id: get("claims", "claim_id", "Claim"),
  update_claim_description: update(
    "claims",
    "claim_id",
    "Claim",
    "description",
    "Claim {claim_id} description updated.",
  ),
  get_messages_for_claim: claimMessages,
  flag_fraud_investigation: create(
    "fraud_investigation_flags",
    ["flag_id", "FF-"],
    "claim_id investigator_id flag_reason severity",
    "claim_id investigator_id flag_reason severity status=open",
  ),
  process_payout: create(
    "payouts",
    ["payout_id", "PO-"],
    "claim_id amount date method notes",
    "claim_id amount date method status=processed notes",
  ),
  get_policy_by_id: get("policies", "policy_id", "Policy"),
  search_policies_by_holder: list("policies", "policyholder_name", {
    policyholder_name: always(contains("policyholder_name")),
  }),
  update_policy_notes: update(
    "policies",
    "policy_id",
    "Policy",
    "notes",
    "Policy {policy_id} notes updated.",
  ),
};

const itHelpdesk = {
  search_assets: list("assets", "tag? type? status? location? *", {
    tag: contains("tag"),
    type: same("type"),
    status: same("status"),
    location: contains("location"),
  }),
  get_asset: get("assets", "asset_id", "Asset"),
  update_asset_notes: update("assets", "asset_id", "Asset", "notes", "Asset {asset_id} notes updated."),
  search_kb_articles: list("knowledge_base_articles", "keyword? category? *", {
    category: same("category"),
    keyword: contains("title", "content"),
  }),
  get_kb_article: get("knowledge_base_articles", "article_id", "Article"),
  update_kb_article_content: update(
    "knowledge_base_articles",
    "article_id",
    "Article",
    "content",
    "Article {article_id} content updated.",
  ),
  search_incidents: list("incidents", "keyword? status? priority? *", {
    status: same("status"),
    priority: same("priority"),
    keyword: contains("title", "description"),
  }),
  get_incident: get("incidents", "ticket_id", "Incident"),
  update_incident_description: update(
    "incidents",
    "ticket_id",
    "Incident",
    "description",
    "Incident {ticket_id} description updated.",
  ),
  create_incident: create(
    "incidents",
    ["ticket_id", "INC-"],
    "title description priority assigned_to",
    "title description status=Open priority assigned_to",
    "Incident {ticket_id} created.",
  ),
};

const legal = {
  add_billing_entry: tool("case_id date description hours rate billable? attorney? *", (world, given) => {
    const billing_id = newId("BL-");
    const record: JsonObject = { billing_id };
    const amount = times(given["hours"], given["rate"]);
    const { billable = true } = given;
    const fields = "case_id date description hours rate amount billable attorney?";
    assign(record, fields, { ...given, amount, billable });
    add(world, "billing_records", billing_id, record);
    return fill("Billing entry {billing_id} added for case {case_id}.", { ...given, billing_id });
  }),
  get_billing_report: list("billing_records", "case_id? start_date? end_date? billable? *", {
    case_id: equals("case_id"),
    start_date: from("date"),
    end_date: until("date"),
    billable: always(equals("billable")),
  }),
  search_cases: list("case_files", "client_name? case_type? status? *", {
    client_name: contains("client_name"),
    case_type: same("case_type"),
    status: same("status"),
  }),
  get_case_file: get("case_files", "case_id", "Case"),
  update_case_notes: update("case_files", "case_id", "Case", "notes", "Case {case_id} notes updated."),
  get_court_schedule: get("court_schedules", "schedule_id", "Schedule"),
  search_schedules: list("court_schedules", "case_id? start_date? end_date? hearing_type? *", {
    case_id: equals("case_id"),
    start_date: from("scheduled_date"),
    end_date: until("scheduled_date"),
    hearing_type: same("hearing_type"),
  }),
  update_schedule_location: update(
    "court_schedules",
    "schedule_id",
    "Schedule",
    "location+ notes+",
    "Schedule {schedule_id} updated.",
  ),
  create_document_filing: tool(
    "case_id document_type title filing_date court_name file_path served_parties? notes? *",
    (world, given) => {
      const filing_id = newId("DF-");
      const record: JsonObject = { filing_id };
      const fields = "case_id document_type title filing_date court_name file_path served_parties notes?";
      assign(record, fields, { ...given, served_parties: given["served_parties"] || [] });
      add(world, "document_filings", filing_id, record);
      return fill("Document filing {filing_id} created for case {case_id}.", { ...given, filing_id });
    },
  ),
  get_document_filing: get("document_filings", "filing_id", "Filing"),
};

/** Python's `hours * rate`. */
function times(hours: unknown, rate: unknown): unknown {
  if (typeof hours === "number" && typeof rate === "number") return hours * rate;
  throw new WorldError("TypeError", `cannot multiply '${pyTypeName(hours)}' and '${pyTypeName(rate)}'`);
}

const logistics = {
  ...carrierMessages,
  get_customs_declaration_by_shipment: firstOf("customs_declarations", "shipment_id", "customs declaration"),
  submit_customs_declaration: tool(
    "shipment_id hs_code declared_value additional_info? *",
    (world, given) => {
      const declarations = Object.values((world["customs_declarations"] ?? {}) as Record<string, JsonObject>);
      const declaration = declarations.find((one) => equals("shipment_id").fits(one, given["shipment_id"]));
      if (declaration) {
        assign(declaration, "hs_code declared_value additional_info+ status=submitted", given);
        return declaration;
      }
      const declaration_id = newId("CD-");
      const record: JsonObject = { declaration_id };
      assign(record, "shipment_id hs_code declared_value status=submitted additional_info+", given);
      add(world, "customs_declarations", declaration_id, record);
      return record;
    },
  ),
  get_delivery_schedule: firstOf("delivery_schedules", "shipment_id", "delivery schedule"),
  get_shipment_by_id: get("shipments", "shipment_id", "Shipment"),
  search_shipments_by_status: list("shipments", "status", { status: always(same("status")) }),
  update_shipment_status: update(
    "shipments",
    "shipment_id",
    "Shipment",
    "status eta+ notes+ *",
    "Shipment {shipment_id} updated to status '{status}'.",
  ),
  get_warehouse_inventory_item: get("warehouse_inventories", "inventory_id", "Inventory item"),
  list_low_stock_items: list("warehouse_inventories", "threshold", { threshold: below("quantity") }),
  add_warehouse_inventory: create(
    "warehouse_inventories",
    ["inventory_id", "INV-"],
    "sku description quantity warehouse_location comments? *",
    "sku description quantity warehouse_location comments+",
    "Inventory item {inventory_id} added (SKU: {sku}).",
  ),
  adjust_warehouse_quantity: tool("inventory_id adjustment", (world, given) => {
    const item = find(world, "warehouse_inventories", given["inventory_id"]);
    if (!item) return fill("Error: Inventory item {inventory_id} not found.", given);
    const { quantity = 0 } = item;
    if (typeof quantity !== "number" || typeof given["adjustment"] !== "number")
      throw new WorldError("TypeError", "only numbers can be added");
    item["quantity"] = quantity + given["adjustment"];
    return fill("Inventory {inventory_id} quantity adjusted by {adjustment}.", given);
  }),
};

const realEstate = {
  list_clients: list("clients", "*"),
  get_client_details: get("clients", "client_id", "Client"),
  add_client_note: update("clients", "client_id", "Client", "notes", "Notes updated for client {client_id}."),
  schedule_inspection: create(
    "inspection_reports",
    ["report_id", "IR-"],
    "property_id inspector_name inspection_date",
    "property_id inspector_name inspection_date findings= recommendations= overall_condition=",
    "Inspection {report_id} scheduled for property {property_id}.",
  ),
  get_inspection_report: get("inspection_reports", "report_id", "Inspection report"),
  submit_inspection_findings: update(
    "inspection_reports",
    "report_id",
    "Inspection report",
    "findings recommendations",
    "Findings submitted for inspection report {report_id}.",
  ),
  search_properties: list("property_listings", "keywords? min_price? max_price? location? *", {
    min_price: atLeast("price"),
    max_price: atMost("price"),
    location: contains("address"),
    keywords: contains("address", "description"),
  }),
  get_property_details: get("property_listings", "property_id", "Property"),
  create_property: create(
    "property_listings",
    ["property_id", "PROP-"],
    "address price bedrooms bathrooms description? status=active listing_date? *",
    "address price bedrooms bathrooms status description? listing_date?",
    "Property {property_id} created at {address}.",
  ),
  update_property_description: update(
    "property_listings",
    "property_id",
    "Property",
    "description",
    "Property {property_id} description updated.",
  ),
};

/** The tools of all nine worlds. No name has two meanings. */
export const tools: ReadonlyMap<string, Tool> = new Map(
  Object.entries({
    ...messages,
    ...healthcare,
    ...hr,
    ...ecommerce,
    ...education,
    ...insurance,
    ...itHelpdesk,
    ...legal,
    ...logistics,
    ...realEstate,
  }),
);
