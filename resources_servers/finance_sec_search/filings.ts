import { dumps, isObject, loadsPlain, pyRepr, strip } from "nemo-gym/python";
import { z } from "zod";
import type { Web } from "./web.ts";

const TICKERS = "https://www.sec.gov/files/company_tickers.json";
const SUBMISSIONS = "https://data.sec.gov/submissions/";

const Tickers = z.record(
  z.string(),
  z.looseObject({ cik_str: z.number().int(), ticker: z.string(), title: z.string() }),
);
const texts = z.array(z.string());
const Filings = z.looseObject({
  ...{ accessionNumber: texts, form: texts, filingDate: texts, reportDate: texts, primaryDocument: texts },
});
const Submissions = z.looseObject({
  filings: z.looseObject({
    recent: Filings,
    files: z.array(z.looseObject({ name: z.string() })).default([]),
  }),
});

interface Company {
  cik: number;
  title: string;
}

export interface FilingQuery {
  ticker: string;
  formTypes: readonly string[];
  startDate: string | undefined;
  endDate: string | undefined;
  limit: number;
}

/** The filings of companies at SEC. The list of companies is loaded once. */
export class FilingIndex {
  readonly #web: Web;
  #companies: ReadonlyMap<string, Company> | undefined;

  constructor(web: Web) {
    this.#web = web;
  }

  /** The answer of the tool: a JSON list, the newest filing first, or an error. */
  async search(
    { ticker: given, formTypes, startDate, endDate, limit }: FilingQuery,
    signal: AbortSignal,
  ): Promise<string> {
    this.#companies ??= await this.#loadCompanies(signal);
    if (!this.#companies)
      return dumps({ error: "The list of companies of SEC is not available now. Try again later." });
    const ticker = strip(given).toUpperCase();
    const company = this.#companies.get(ticker);
    if (!company)
      return dumps({
        error: `No company found for ticker '${ticker}'`,
        suggestion: `Use the exact stock ticker symbol (e.g., 'AAPL' for Apple, 'MSFT' for Microsoft). Note: only companies listed at ${TICKERS} are supported.`,
      });
    const filings = (await this.#filingsOf(company, signal))
      .filter(
        ({ form, date }) =>
          (formTypes.length === 0 || formTypes.includes(form)) &&
          (startDate === undefined || date >= startDate) &&
          (endDate === undefined || date <= endDate),
      )
      .sort((left, right) => (left.date < right.date ? 1 : left.date > right.date ? -1 : 0))
      .slice(0, limit);
    if (filings.length === 0)
      return dumps({
        error: `No filings found for '${ticker}'${formTypes.length > 0 ? ` with form types ${pyRepr(formTypes)}` : ""}`,
        suggestion:
          "Try broadening your search: remove form_types filter, widen the date range, or check the ticker symbol.",
      });
    const entries = filings.map(({ form, date, reportDate, number, document }) => ({
      ticker,
      company_name: company.title,
      form,
      filing_date: date,
      report_date: reportDate,
      accession_number: number,
      filing_url: `https://www.sec.gov/Archives/edgar/data/${company.cik}/${number.replaceAll("-", "")}/${document}`,
    }));
    return dumps(entries, { indent: 2 });
  }

  async #loadCompanies(signal: AbortSignal): Promise<ReadonlyMap<string, Company> | undefined> {
    const list = Tickers.safeParse(await this.#json(TICKERS, signal)).data;
    return (
      list &&
      new Map(
        Object.values(list).map(({ ticker, cik_str: cik, title }) => [ticker.toUpperCase(), { cik, title }]),
      )
    );
  }

  async #filingsOf({ cik }: Company, signal: AbortSignal) {
    const submissions = Submissions.safeParse(
      await this.#json(`${SUBMISSIONS}CIK${String(cik).padStart(10, "0")}.json`, signal),
    ).data;
    if (!submissions) return [];
    const { recent, files } = submissions.filings;
    const older = await Promise.all(files.map(({ name }) => this.#json(SUBMISSIONS + name, signal)));
    return [recent, ...older.flatMap((page) => Filings.safeParse(page).data ?? [])].flatMap((page) =>
      page.accessionNumber.map((number, index) => ({
        number,
        form: page.form[index] ?? "",
        date: page.filingDate[index] ?? "",
        reportDate: page.reportDate[index] ?? "",
        document: page.primaryDocument[index] ?? "",
      })),
    );
  }

  async #json(url: string, signal: AbortSignal): Promise<unknown> {
    const text = await this.#web.text(url, signal);
    try {
      const value = loadsPlain(text ?? "");
      return isObject(value) ? value : undefined;
    } catch {
      return undefined;
    }
  }
}
