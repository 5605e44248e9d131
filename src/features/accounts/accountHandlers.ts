import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { formatNano } from "../../domain/money/Money.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { formatNanoOrNull, isoOrNull, moneyView, poolView } from "../../http/handlers/views.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  Accounts,
  type KeyRecord,
  type MemberRecord,
  type OrganizationRecord
} from "../../services/operators/Accounts.ts"
import {
  AccountsGroup,
  type KeyView,
  type MemberView,
  type OrganizationView
} from "./AccountsApi.ts"

const makeOrganizationView =
  (currency: string) =>
  (organization: OrganizationRecord): typeof OrganizationView.Type => ({
    id: organization.id,
    name: organization.name,
    ...poolView({
      ...organization,
      overdraftNano: organization.holdsOnCredit ? organization.creditNano : 0n
    }),
    holds_on_credit: organization.holdsOnCredit,
    low_balance: formatNanoOrNull(organization.lowNano),
    currency,
    enabled: organization.disabledAt === null,
    disabled_at: isoOrNull(organization.disabledAt),
    stopped_reason: organization.stoppedReason,
    watermark: organization.watermark,
    price_list: organization.priceListId,
    created_at: organization.createdAt.toISOString()
  })

const monthView = (month: Pick<MemberRecord, "capturedNano" | "heldNano">) => ({
  used: formatNano(month.capturedNano),
  held: formatNano(month.heldNano)
})

const memberView = (member: MemberRecord): typeof MemberView.Type => ({
  id: member.id,
  organization_id: member.organizationId,
  name: member.name,
  monthly_cap: formatNanoOrNull(member.capNano),
  month: monthView(member),
  enabled: member.disabledAt === null,
  disabled_at: isoOrNull(member.disabledAt),
  created_at: member.createdAt.toISOString()
})

const keyView = (key: KeyRecord): typeof KeyView.Type => ({
  id: key.id,
  organization_id: key.organizationId,
  member_id: key.memberId,
  name: key.name,
  scopes: key.scopes,
  models: key.models,
  requests_per_minute: key.requestsPerMinute,
  expires_at: isoOrNull(key.expiresAt),
  revoked_at: isoOrNull(key.revokedAt),
  created_at: key.createdAt.toISOString()
})

const isEnabled = (state: "enabled" | "disabled" | undefined) =>
  state === undefined ? null : state === "enabled"

export const layerAccountsHandlers = HttpApiBuilder.group(
  operatorApi(AccountsGroup),
  "accounts",
  Effect.fn(function* (handlers) {
    const accounts = yield* Accounts
    const { currency } = yield* Settings
    const organizationView = makeOrganizationView(currency)

    return handlers.handleAll({
      listOrganizations: Effect.fn("accounts.listOrganizations")(function* ({ query }) {
        const { name = null, state, low_balance: low, totals, ...page } = query
        const hasLowBalance = low === undefined ? null : low === "true"
        const filter = { name, enabled: isEnabled(state), hasLowBalance }
        const list = listView(yield* accounts.organizations(filter, pageOf(page)), organizationView)
        if (totals === "false") return list
        const sums = yield* accounts.organizationTotals(filter)
        return { ...list, totals: { count: sums.count, ...moneyView(sums), currency } }
      }),
      readOrganization: Effect.fn("accounts.readOrganization")(function* ({ params }) {
        return organizationView(yield* accounts.organization(params.id))
      }),
      changeOrganization: Effect.fn("accounts.changeOrganization")(function* ({ params, payload }) {
        const {
          credit: creditNano,
          holds_on_credit: holdsOnCredit,
          price_list: priceListId,
          ...change
        } = payload
        if (priceListId !== undefined) yield* accounts.setPriceList(params.id, priceListId)
        return organizationView(
          yield* accounts.changeOrganization(params.id, { ...change, creditNano, holdsOnCredit })
        )
      }),
      listMembers: Effect.fn("accounts.listMembers")(function* ({ query }) {
        const {
          organization_id: organizationId = null,
          name = null,
          state,
          totals,
          ...page
        } = query
        const filter = { organizationId, name, enabled: isEnabled(state) }
        const list = listView(yield* accounts.members(filter, pageOf(page)), memberView)
        if (totals === "false") return list
        const sums = yield* accounts.memberTotals(filter)
        return { ...list, totals: { count: sums.count, month: monthView(sums), currency } }
      }),
      readMember: Effect.fn("accounts.readMember")(function* ({ params }) {
        return memberView(yield* accounts.member(params.id))
      }),
      changeMember: Effect.fn("accounts.changeMember")(function* ({ params, payload }) {
        const { monthly_cap: monthlyCapNano, ...change } = payload
        return memberView(yield* accounts.changeMember(params.id, { ...change, monthlyCapNano }))
      }),
      listKeys: Effect.fn("accounts.listKeys")(function* ({ query }) {
        const {
          organization_id: organizationId = null,
          member_id: memberId = null,
          name = null,
          state,
          totals,
          ...page
        } = query
        const revoked = state === undefined ? null : state === "revoked"
        const filter = { organizationId, memberId, name, revoked }
        const list = listView(yield* accounts.keys(filter, pageOf(page)), keyView)
        return totals === "false" ? list : { ...list, totals: yield* accounts.keyTotals(filter) }
      }),
      readKey: Effect.fn("accounts.readKey")(function* ({ params }) {
        return keyView(yield* accounts.key(params.id))
      }),
      changeKey: Effect.fn("accounts.changeKey")(function* ({ params, payload }) {
        const { expires_at: expiresAt, requests_per_minute: requestsPerMinute, ...change } = payload
        return keyView(
          yield* accounts.changeKey(params.id, { ...change, expiresAt, requestsPerMinute })
        )
      })
    })
  })
)
