/** Everything under `/admin/v1`: who is let in, what a role may write, and what is audited. */
import { HttpApi } from "effect/http-api"
import { AdminAuditing, AdminAuthorization, AdminRoles, RequestRules } from "../middlewares.ts"
import { strictly } from "../shared.ts"
import { AccountsGroup } from "./AccountsApi.ts"
import { AdminGroup } from "./AdminApi.ts"
import { ChannelsGroup } from "./ChannelsApi.ts"
import { HistoryGroup } from "./HistoryApi.ts"
import { BudgetsGroup } from "./money/BudgetsApi.ts"
import { MoneyGroup } from "./money/MoneyApi.ts"
import { OperatorStatementsGroup } from "./money/OperatorStatementsApi.ts"
import { ReconciliationsGroup } from "./money/ReconciliationsApi.ts"
import { UsageSumsGroup } from "./money/UsageSumsApi.ts"
import { OperatorsGroup } from "./OperatorsApi.ts"
import { OperatorWebhooksGroup } from "./OperatorWebhooksApi.ts"
import { OrderListsGroup } from "./OrderListsApi.ts"

export class AdministrationApi extends HttpApi.make("administration")
  .add(
    AdminGroup,
    AccountsGroup,
    ChannelsGroup,
    HistoryGroup,
    OperatorWebhooksGroup,
    OperatorsGroup,
    MoneyGroup,
    UsageSumsGroup,
    OperatorStatementsGroup,
    ReconciliationsGroup,
    OrderListsGroup,
    BudgetsGroup
  )
  .annotate(HttpApi.PayloadParseOptions, strictly)
  // The last one is the first that a request comes to.
  .middleware(RequestRules)
  .middleware(AdminRoles)
  .middleware(AdminAuditing)
  .middleware(AdminAuthorization)
  .prefix("/admin/v1") {}
