import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { formatNano } from "../../domain/money/Money.ts"
import {
  KeyChangeBody,
  MemberChangeBody,
  OrganizationChangeBody
} from "../../http/api/admin/bodies.ts"
import { operatorApi } from "../../http/api/contractOf.ts"
import { strictly } from "../../http/api/shared.ts"
import { listView, pageOf } from "../../http/handlers/respond.ts"
import { formatNanoOrNull, isoOrNull, moneyView, poolView } from "../../http/handlers/views.ts"
import { bodyOf } from "../../http/server/requestRules.ts"
import { Settings } from "../../runtime/Settings.ts"
import {
  Accounts,
  type KeyRecord,
  type MemberRecord,
  type OrganizationRecord
} from "../../services/operators/Accounts.ts"
import { AccountsGroup } from "./AccountsApi.ts"

const asOrganization = bodyOf(OrganizationChangeBody, strictly)
const asMember = bodyOf(MemberChangeBody, strictly)
const asKey = bodyOf(KeyChangeBody, strictly)

const organizationView = (currency: string) => (organization: OrganizationRecord) => ({
  ...{ id: organization.id, name: organization.name },
  ...poolView(organization),
  low_balance: formatNanoOrNull(organization.lowNano),
  currency,
  enabled: organization.disabledAt === null,
  disabled_at: isoOrNull(organization.disabledAt),
  stopped_reason: organization.stoppedReason,
  created_at: organization.createdAt.toISOString()
})

const monthView = (month: Pick<MemberRecord, "capturedNano" | "heldNano">) => ({
  used: formatNano(month.capturedNano),
  held: formatNano(month.heldNano)
})

const memberView = (member: MemberRecord) => ({
  ...{ id: member.id, organization_id: member.organizationId, name: member.name },
  monthly_cap: formatNanoOrNull(member.capNano),
  month: monthView(member),
  enabled: member.disabledAt === null,
  disabled_at: isoOrNull(member.disabledAt),
  created_at: member.createdAt.toISOString()
})

const keyView = ({ id, name, scopes, models, ...key }: KeyRecord) => ({
  ...{ id, name, scopes, models },
  ...{ organization_id: key.organizationId, member_id: key.memberId },
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
    const asView = organizationView(currency)

    const written = handlers
      .handleRaw(
        "changeOrganization",
        Effect.fn("accounts.changeOrganization")(function* ({ params }) {
          const { credit, ...change } = yield* asOrganization
          return asView(
            yield* accounts.changeOrganization(params.id, {
              ...change,
              ...(credit === undefined ? {} : { creditNano: credit })
            })
          )
        })
      )
      .handleRaw(
        "changeMember",
        Effect.fn("accounts.changeMember")(function* ({ params }) {
          const { monthly_cap, ...change } = yield* asMember
          return memberView(
            yield* accounts.changeMember(params.id, {
              ...change,
              ...(monthly_cap === undefined ? {} : { monthlyCapNano: monthly_cap })
            })
          )
        })
      )
      .handleRaw(
        "changeKey",
        Effect.fn("accounts.changeKey")(function* ({ params }) {
          const { expires_at, requests_per_minute, ...change } = yield* asKey
          return keyView(
            yield* accounts.changeKey(params.id, {
              ...change,
              ...(expires_at === undefined ? {} : { expiresAt: expires_at }),
              ...(requests_per_minute === undefined
                ? {}
                : { requestsPerMinute: requests_per_minute })
            })
          )
        })
      )
    return written.handleAll({
      listOrganizations: Effect.fn("accounts.listOrganizations")(function* ({ query }) {
        const { name = null, state, totals, ...page } = query
        const filter = { name, enabled: isEnabled(state) }
        const list = listView(yield* accounts.organizations(filter, pageOf(page)), asView)
        if (totals === "false") return list
        const all = yield* accounts.organizationTotals(filter)
        return { ...list, totals: { count: all.count, ...moneyView(all), currency } }
      }),
      readOrganization: Effect.fn("accounts.readOrganization")(function* ({ params }) {
        return asView(yield* accounts.organization(params.id))
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
        const all = yield* accounts.memberTotals(filter)
        return { ...list, totals: { count: all.count, month: monthView(all), currency } }
      }),
      readMember: Effect.fn("accounts.readMember")(function* ({ params }) {
        return memberView(yield* accounts.member(params.id))
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
      })
    })
  })
)
