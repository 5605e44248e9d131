/** The operators' HTTP API of the statements of any organisation. */
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Month } from "../../domain/money/months.ts"
import { plainText } from "../../domain/plainText.ts"
import { errors } from "../../http/api/apiErrors.ts"
import { list } from "../../http/api/shared.ts"
import {
  csvFile,
  focusOperation,
  focusQuery,
  SealedMonthView,
  StatementView,
  sealedMonthsOperation,
  sealedMonthsQuery,
  statementOperation
} from "./StatementsApi.ts"

const organization = { id: plainText().annotate({ description: "The organisation's id" }) }
const params = { ...organization, month: Month }
const error = [errors.NotFound, errors.InvalidRequest] as const

export class OperatorStatementsGroup extends HttpApiGroup.make("operatorStatements").add(
  HttpApiEndpoint.get("listOrganizationStatements", "/organizations/:id/statements", {
    params: organization,
    query: sealedMonthsQuery,
    success: list(SealedMonthView),
    error
  }).annotateMerge(sealedMonthsOperation),
  HttpApiEndpoint.get("readOrganizationStatement", "/organizations/:id/statements/:month", {
    params,
    success: StatementView,
    error
  }).annotateMerge(statementOperation),
  HttpApiEndpoint.get("readOrganizationFocus", "/organizations/:id/statements/:month/focus", {
    params,
    query: focusQuery,
    success: csvFile,
    error
  }).annotateMerge(focusOperation)
) {}
