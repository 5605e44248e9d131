/**
 * Handlers of statements, for members of an organisation and for operators. The request's `Accept`
 * header decides whether a statement is returned as JSON, as a CSV file of its entries or as an
 * HTML page.
 */

import { Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { formatNano } from "../../domain/money/Money.ts"
import { customerApi, operatorApi } from "../../http/api/contractOf.ts"
import { CurrentCaller } from "../../http/api/middlewares.ts"
import { csvResponse, preferredType } from "../../http/handlers/csv.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { Settings } from "../../runtime/Settings.ts"
import { csvText } from "../../runtime/texts/csvText.ts"
import { Access } from "../../services/Access.ts"
import { type FocusVersion, focusColumns, focusRowsOf } from "./focusRows.ts"
import { OperatorStatementsGroup } from "./OperatorStatementsApi.ts"
import {
  type Seal,
  type SealedMonth,
  type Statement,
  Statements,
  type StatementTransfer
} from "./Statements.ts"
import { StatementsGroup, type StatementView } from "./StatementsApi.ts"
import { statementFile } from "./statementFile.ts"
import { PAGE_POLICY, statementPage } from "./statementPage.ts"

const sealView = ({ sealedAt, sha256, entries }: Seal) => ({
  at: sealedAt.toISOString(),
  sha256,
  entries: Number(entries)
})

const sealedView = (sealed: SealedMonth) => ({
  month: sealed.month,
  opening_balance: formatNano(sealed.openingNano),
  closing_balance: formatNano(sealed.closingNano),
  sealed: sealView(sealed)
})

const chargesView = ({ count, grossNano, returnedNano }: Statement["charges"]) => ({
  count,
  gross: formatNano(grossNano),
  returned: formatNano(returnedNano),
  net: formatNano(grossNano - returnedNano)
})

const transferView = ({
  id,
  amountNano,
  reference,
  at
}: Pick<StatementTransfer, "id" | "amountNano" | "reference" | "at">) => ({
  id,
  amount: formatNano(amountNano),
  reference,
  at: at.toISOString()
})

const statementView = (
  statement: Statement,
  { currency, timeZone }: Pick<Settings, "currency" | "timeZone">
): StatementView => {
  const totalOf = (kind: keyof Statement["transferTotals"]) => ({
    count: statement.transferTotals[kind].count,
    amount: formatNano(statement.transferTotals[kind].amountNano)
  })
  return {
    object: "statement",
    organization_id: statement.organizationId,
    organization_name: statement.organizationName,
    month: statement.month,
    time_zone: timeZone,
    currency,
    from: statement.from.toISOString(),
    to: statement.to.toISOString(),
    opening_balance: formatNano(statement.openingNano),
    closing_balance: formatNano(statement.closingNano),
    deposits: {
      ...totalOf("deposit"),
      data: statement.transfers.flatMap((transfer) =>
        transfer.kind === "deposit" ? [transferView(transfer)] : []
      )
    },
    charges: {
      ...chargesView(statement.charges),
      by_model: statement.byModel.map(({ model, ...line }) => ({ model, ...chargesView(line) })),
      by_member: statement.byMember.map(({ memberId, name, ...line }) => ({
        member_id: memberId,
        name,
        ...chargesView(line)
      })),
      by_tag: statement.byTag.map(({ name, value, ...line }) => ({
        name,
        value,
        ...chargesView(line)
      }))
    },
    adjustments: {
      credits: totalOf("credit"),
      corrections: totalOf("correction"),
      withdrawals: totalOf("withdrawal"),
      data: statement.transfers.flatMap(({ kind, reason, author, ...transfer }) =>
        kind === "deposit"
          ? []
          : [
              {
                ...transferView(transfer),
                kind,
                reason: reason ?? "",
                author: author ?? "",
                usage_id: transfer.correctedId
              }
            ]
      )
    },
    open_orders: statement.openOrders,
    open_amount: formatNano(statement.openNano),
    sealed: statement.seal === null ? null : sealView(statement.seal)
  }
}

const makeStatementAnswers = Effect.gen(function* () {
  const statements = yield* Statements
  const settings = yield* Settings
  const fileName = (prefix: string, { organizationId, month }: Statement) =>
    `${prefix}-${organizationId}-${month}`

  return {
    list: Effect.fnUntraced(function* (
      organizationId: string,
      query: { readonly after?: string; readonly limit: number }
    ) {
      return listView(yield* statements.sealedMonths(organizationId, pageOf(query)), sealedView)
    }),
    read: Effect.fnUntraced(function* (organizationId: string, month: string) {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const statement = yield* statements.read(organizationId, month)
      const view = statementView(statement, settings)
      switch (preferredType(headers.accept, ["text/csv", "text/html"])) {
        case "text/csv":
          return csvResponse(
            statementFile(statement, statements.entries(organizationId, month)),
            fileName("statement", statement)
          )
        case "text/html":
          return HttpServerResponse.text(statementPage(view), {
            contentType: "text/html; charset=utf-8",
            headers: { vary: "accept", "content-security-policy": PAGE_POLICY }
          })
        default:
          return HttpServerResponse.jsonUnsafe(view, { headers: { vary: "accept" } })
      }
    }),
    focus: Effect.fnUntraced(function* (
      organizationId: string,
      month: string,
      version: FocusVersion = "1.2"
    ) {
      const statement = yield* statements.read(organizationId, month)
      const rowsOf = focusRowsOf(statement, settings.currency)
      const rows = statements
        .entries(organizationId, month)
        .pipe(Stream.map(rowsOf), Stream.flattenIterable)
      return csvResponse(csvText(focusColumns[version])(rows), fileName("focus", statement))
    })
  }
})

export const layerStatementsHandlers = HttpApiBuilder.group(
  customerApi(StatementsGroup),
  "statements",
  Effect.fn(function* (handlers) {
    const answers = yield* makeStatementAnswers
    return handlers.handleAll({
      listStatements: Effect.fn("statements.listStatements")(function* ({ query }) {
        return yield* answers.list((yield* CurrentCaller).organizationId, query)
      }),
      readStatement: Effect.fn("statements.readStatement")(function* ({ params }) {
        return yield* answers.read((yield* CurrentCaller).organizationId, params.month)
      }),
      readFocus: Effect.fn("statements.readFocus")(function* ({ params, query }) {
        const { organizationId } = yield* CurrentCaller
        return yield* answers.focus(organizationId, params.month, query.version)
      })
    })
  })
)

export const layerOperatorStatementsHandlers = HttpApiBuilder.group(
  operatorApi(OperatorStatementsGroup),
  "operatorStatements",
  Effect.fn(function* (handlers) {
    const access = yield* Access
    const answers = yield* makeStatementAnswers
    return handlers.handleAll({
      listOrganizationStatements: Effect.fn("statements.listOrganizationStatements")(function* ({
        params,
        query
      }) {
        yield* access.organization(params.id)
        return yield* answers.list(params.id, query)
      }),
      readOrganizationStatement: Effect.fn("statements.readOrganizationStatement")(({ params }) =>
        answers.read(params.id, params.month)
      ),
      readOrganizationFocus: Effect.fn("statements.readOrganizationFocus")(({ params, query }) =>
        answers.focus(params.id, params.month, query.version)
      )
    })
  })
)
