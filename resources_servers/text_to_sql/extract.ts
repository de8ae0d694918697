import { strip } from "nemo-gym/python";

const SQL_FENCE = /```sql\s*([\s\S]*?)```/gi;
const ANY_FENCE = /```([\s\S]*?)```/g;
const STATEMENT = /^(?:SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|DROP)\s/i;
const QUERY = /(?:SELECT|INSERT|UPDATE|DELETE|WITH)\s/i;

/** The query in an answer: the last SQL block, else the last block that begins like SQL, else the text from the first keyword on. */
export function extractSql(text: string): string | null {
  const blocks = [...text.matchAll(SQL_FENCE)].map(([, sql = ""]) => strip(sql));
  const last = blocks.at(-1);
  if (last !== undefined) return last || null;
  const plain = [...text.matchAll(ANY_FENCE)].map(([, sql = ""]) => strip(sql));
  return plain.findLast((sql) => STATEMENT.test(sql)) ?? fromKeyword(text);
}

/** As in the original, any word that ends like a keyword begins a query. */
function fromKeyword(text: string): string | null {
  const start = text.search(QUERY);
  if (start < 0) return null;
  const end = text.lastIndexOf(";");
  const sql = end > start ? text.slice(start, end) : text.slice(start);
  return `${strip(sql).replace(/;+$/, "")};`;
}
