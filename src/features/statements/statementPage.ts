/**
 * A statement as an HTML page for print, without scripts and external resources; every text is
 * escaped.
 */
import { hash } from "node:crypto"
import type { StatementView } from "./StatementsApi.ts"

const STYLE = `
:root { color-scheme: light dark }
body { font: 14px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0 } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .3rem .5rem; border-bottom: 1px solid #8886; overflow-wrap: anywhere }
thead { display: table-header-group } tr { break-inside: avoid }
.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
.sum td { font-weight: 600 } small, .note { color: #777 }
@page { size: A4; margin: 15mm }
@media print { body { margin: 0; max-width: none; font-size: 10pt } h2 { break-after: avoid } }
`

/**
 * Content security policy of the page: only its own inline style is applied; nothing is loaded or
 * run.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", STYLE, "base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}
const text = (value: string | number): string =>
  String(value).replace(/[&<>"']/g, (character) => escapes[character] ?? character)

/**
 * The class of a cell: the first `labelCount` cells of a row are labels; numbers after them are
 * right-aligned.
 */
const cellClass = (index: number, labelCount: number): string =>
  index < labelCount ? "" : ' class="n"'

const row = (
  cells: ReadonlyArray<string | number>,
  labelCount: number,
  rowClass: "" | "sum" = ""
): string =>
  `<tr${rowClass === "" ? "" : ` class="${rowClass}"`}>${cells
    .map((cell, index) => `<td${cellClass(index, labelCount)}>${text(cell)}</td>`)
    .join("")}</tr>`

const table = (
  headers: ReadonlyArray<string>,
  labelCount: number,
  rows: ReadonlyArray<string>
): string =>
  `<table><thead><tr>${headers
    .map((header, index) => `<th scope="col"${cellClass(index, labelCount)}>${text(header)}</th>`)
    .join("")}</tr></thead><tbody>${rows.join("\n")}</tbody></table>`

const EMPTY = '<p class="note">None in this month.</p>'

const CHARGE_HEADERS = ["Charges", "Gross", "Returned", "Net"]

interface ChargeSums {
  readonly count: number
  readonly gross: string
  readonly returned: string
  readonly net: string
}

const chargesTable = (
  headers: ReadonlyArray<string>,
  lines: ReadonlyArray<readonly [labels: ReadonlyArray<string>, sums: ChargeSums]>
): string =>
  lines.length === 0
    ? EMPTY
    : table(
        [...headers, ...CHARGE_HEADERS],
        headers.length,
        lines.map(([labels, { count, gross, returned, net }]) =>
          row([...labels, count, gross, returned, net], headers.length)
        )
      )

const negative = (amount: string): string => (amount === "0" ? amount : `-${amount}`)

/** The table of deposits and adjustments, in order of time. */
const transfersTable = ({ deposits, adjustments }: StatementView): string => {
  const transfers = [
    ...deposits.data.map((deposit) => ({ ...deposit, kind: "deposit", reason: "" })),
    ...adjustments.data
  ]
  return transfers.length === 0
    ? EMPTY
    : table(
        ["Time", "Kind", "Reference", "Reason", "Amount"],
        4,
        transfers
          .toSorted((one, other) => (one.at < other.at ? -1 : 1))
          .map(({ at, kind, reference, reason, amount }) =>
            row([at, kind, reference, reason, kind === "withdrawal" ? negative(amount) : amount], 4)
          )
      )
}

const sealLine = ({ sealed, open_orders, open_amount, currency }: StatementView): string => {
  if (sealed === null) {
    return open_orders === 0
      ? "Not sealed."
      : `Not sealed: ${open_orders} orders are open, which hold ${text(open_amount)} ${text(currency)}.`
  }
  return `Sealed at ${text(sealed.at)} over ${sealed.entries} entries. SHA-256 of the entries: <code>${text(sealed.sha256)}</code>`
}

export const statementPage = (statement: StatementView): string => {
  const { charges, adjustments, currency } = statement
  const balance = [
    row(["Opening balance", "", statement.opening_balance], 1, "sum"),
    row(["Deposits", statement.deposits.count, statement.deposits.amount], 1),
    row(["Charges", charges.count, negative(charges.gross)], 1),
    row(["Corrections of charges", adjustments.corrections.count, charges.returned], 1),
    row(["Credits", adjustments.credits.count, adjustments.credits.amount], 1),
    row(
      ["Withdrawals", adjustments.withdrawals.count, negative(adjustments.withdrawals.amount)],
      1
    ),
    row(["Closing balance", "", statement.closing_balance], 1, "sum")
  ]
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${text(`Statement ${statement.month}, ${statement.organization_name}`)}</title><style>${STYLE}</style></head>
<body>
<h1>Statement ${text(statement.month)}</h1>
<p>${text(statement.organization_name)} <small>${text(statement.organization_id)}</small><br>
${text(statement.from)} to ${text(statement.to)}, ${text(statement.time_zone)}. Amounts in ${text(currency)}.</p>
<h2>Balance</h2>
${table(["", "Number", "Amount"], 1, balance)}
<h2>Deposits and adjustments</h2>
${transfersTable(statement)}
<h2>Charges by model</h2>
${chargesTable(
  ["Model"],
  charges.by_model.map((line) => [[line.model], line])
)}
<h2>Charges by member</h2>
${chargesTable(
  ["Member", "Id"],
  charges.by_member.map((line) => [[line.name, line.member_id], line])
)}
<h2>Charges by tag</h2>
${chargesTable(
  ["Tag", "Text"],
  charges.by_tag.map((line) => [[line.name, line.value], line])
)}
<h2>Seal</h2>
<p>${sealLine(statement)}</p>
</body></html>
`
}
