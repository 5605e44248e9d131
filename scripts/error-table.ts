/**
 * The table of errors for the README, from the one the gateway works by.
 *
 *   npm run --silent error-table
 */
import { errorTable, type RetryRule } from "../src/domain/errorTable.ts"

const mayRepeat: Readonly<Record<RetryRule, string>> = {
  no: "no, it is answered the same",
  later: "when `retry_after` has passed",
  "not by itself": "not by itself",
  "as told": "where `retryable` is true"
}

const rowOf = ([code, row]: [string, (typeof errorTable)[keyof typeof errorTable]]): string => {
  const fields = Object.keys(row.fields).map((name) =>
    name === "retryAfterSeconds" ? "`retry_after`" : `\`${name}\``
  )
  const cells = [
    `\`${code}\``,
    `${row.status}${code === "upstream_error" ? ", or 400, 404, 413, 415, 422, 503, 504" : ""}`,
    row.type,
    row.meaning,
    fields.join(", "),
    mayRepeat[row.retry],
    row.mayFollowPaidCall ? "yes" : "no"
  ]
  return `| ${cells.join(" | ")} |`
}

/** In Markdown, without a line break at its end. */
export const errorTableMarkdown = (): string =>
  [
    "| code | HTTP | type | when | says also | send it again | a paid job may have begun |",
    "|---|---|---|---|---|---|---|",
    ...Object.entries(errorTable).map(rowOf)
  ].join("\n")

if (import.meta.main) process.stdout.write(`${errorTableMarkdown()}\n`)
