/** Everything under `/admin/v1`: who is let in, what a role may write, and what is audited. */
import { HttpApi } from "effect/http-api"
import { AdminAuditing, AdminAuthorization, AdminRoles, RequestRules } from "../middlewares.ts"
import { strictly } from "../shared.ts"
import { AccountsGroup } from "./AccountsApi.ts"
import { AdminGroup } from "./AdminApi.ts"
import { BudgetsGroup } from "./BudgetsApi.ts"
import { ChannelsGroup } from "./ChannelsApi.ts"
import { HistoryGroup } from "./HistoryApi.ts"
import { MoneyGroup } from "./MoneyApi.ts"
import { OperatorStatementsGroup } from "./OperatorStatementsApi.ts"
import { OperatorsGroup } from "./OperatorsApi.ts"
import { OperatorWebhooksGroup } from "./OperatorWebhooksApi.ts"
import { OrderListsGroup } from "./OrderListsApi.ts"
import { ReconciliationsGroup } from "./ReconciliationsApi.ts"
import { UsageSumsGroup } from "./UsageSumsApi.ts"

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
    BudgetsGroup,
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
