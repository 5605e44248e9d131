import { AccountsGroup } from "../features/accounts/AccountsApi.ts"
import { OperatorsGroup } from "../features/accounts/OperatorsApi.ts"
import { BudgetsGroup } from "../features/budgets/BudgetsApi.ts"
import { AdminGroup } from "../features/catalog/AdminApi.ts"
import { ChannelsGroup } from "../features/catalog/ChannelsApi.ts"
import { HistoryGroup } from "../features/history/HistoryApi.ts"
import { PriceListsGroup } from "../features/priceLists/PriceListsApi.ts"
import { ReconciliationsGroup } from "../features/reconciliations/ReconciliationsApi.ts"
import { SessionsGroup } from "../features/signIn/SessionsApi.ts"
import { OperatorStatementsGroup } from "../features/statements/OperatorStatementsApi.ts"
import { MoneyGroup } from "../features/transfers/MoneyApi.ts"
import { OrderListsGroup } from "../features/usage/OrderListsApi.ts"
import { UsageSumsGroup } from "../features/usage/UsageSumsApi.ts"
import { OperatorWebhooksGroup } from "../features/webhooks/OperatorWebhooksApi.ts"
import { operatorApi } from "../http/api/contractOf.ts"

export class AdministrationApi extends operatorApi(
  AdminGroup,
  AccountsGroup,
  ChannelsGroup,
  PriceListsGroup,
  HistoryGroup,
  OperatorWebhooksGroup,
  OperatorsGroup,
  SessionsGroup,
  MoneyGroup,
  UsageSumsGroup,
  OperatorStatementsGroup,
  ReconciliationsGroup,
  OrderListsGroup,
  BudgetsGroup
) {}
