import { strip } from "nemo-gym/python";

const SQL_FENCE = /```sql\s*(.*?)```/gis;
const PLAIN_FENCE = /```\s*(.*?)```/gs;
const STATEMENT = /^(?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|DROP)\s/i;
const FIRST_WORD = /(?:SELECT|INSERT|UPDATE|DELETE|WITH)\s/i;

/** The SQL of an answer: its last `sql` fence, else its last plain fence with a statement, else from the first word of a query on. */
export function extractSql(text: string): string | null {
  const fenced = [...text.matchAll(SQL_FENCE)].at(-1)?.[1];
  if (fenced !== undefined) return strip(fenced) || null;
  const plain = [...text.matchAll(PLAIN_FENCE)].map(([, content = ""]) => strip(content));
  const statement = plain.findLast((content) => STATEMENT.test(content));
  if (statement !== undefined) return statement;
  const start = text.search(FIRST_WORD);
  if (start < 0) return null;
  const rest = text.slice(start);
  const end = rest.lastIndexOf(";");
  const query = strip(end >= 0 ? rest.slice(0, end) : rest);
  return `${query.replace(/;+$/, "")};`;
}
