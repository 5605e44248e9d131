/** Organisations, members and their keys. */
import { Console, Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { budgetPeriods, usualThresholds } from "../../domain/money/budgets.ts"
import { Amount, formatNano } from "../../domain/money/Money.ts"
import type {
  OrganizationChangeBody,
  OrganizationView
} from "../../features/accounts/AccountsApi.ts"
import type { BudgetView } from "../../http/api/admin/budgets.ts"
import { allScopes, Scope, usualScopes } from "../../services/Access.ts"
import { CommandFailure } from "../failures.ts"
import { facts, printPage, printResult } from "../output.ts"
import { asOperator } from "./connection.ts"

export const after = Flag.String("after").pipe(
  Flag.withDescription("Id of the last entry of the page before"),
  Flag.map((after) => ({ after })),
  Flag.withDefault({})
)
const MAX_LIMIT = 100
export const limit = Flag.Int("limit").pipe(
  Flag.withDescription(`Entries of a page, from 1 to ${MAX_LIMIT}`),
  Flag.filter(
    (limit) => limit >= 1 && limit <= MAX_LIMIT,
    () => `Expected a whole number from 1 to ${MAX_LIMIT}`
  ),
  Flag.withDefault(MAX_LIMIT)
)
const name = Flag.String("name").pipe(
  Flag.withDescription("Only those whose names begin like this"),
  Flag.map((name) => ({ name })),
  Flag.withDefault({})
)
export const ofOrganization = Flag.String("organization").pipe(
  Flag.withDescription("Only those of this organisation"),
  Flag.map((organization_id) => ({ organization_id })),
  Flag.withDefault({})
)
export const idOf = (subject: string) =>
  Argument.String(subject).pipe(Argument.withDescription(`The ${subject}'s id`))
export const organization = idOf("organization")
export const newName = Argument.String("name").pipe(Argument.withDescription("For people"))

const page = { after, limit }
const marks = { on: true, off: false, default: null } as const

/** Changes an organisation, and prints what has become of it. */
const changeOrganization = (
  id: string,
  payload: typeof OrganizationChangeBody.Type,
  sentence: (changed: typeof OrganizationView.Type) => string
) =>
  asOperator(({ gateway }) =>
    Effect.flatMap(gateway.accounts.changeOrganization({ params: { id }, payload }), (changed) =>
      printResult(changed, () => sentence(changed))
    )
  )

const periodNames = { day: "a day", month: "a month", total: "in total" } as const

const keyBudgetText = ({ id, amount, period }: BudgetView): string =>
  `Budget ${id}: ${amount} ${periodNames[period]}.`

const noTotals = { totals: "false" } as const

const organizations = Command.make("org").pipe(
  Command.withDescription("Organisations and what their pools have"),
  Command.withSubcommands([
    Command.make("list", { ...page, name }, ({ after, limit, name }) =>
      asOperator(({ gateway }) =>
        Effect.flatMap(
          gateway.accounts.listOrganizations({ query: { ...after, ...name, limit, ...noTotals } }),
          (list) =>
            printPage(
              list,
              ["id", "name", "balance", "held", "available", "currency", "state"],
              (one) => [
                one.id,
                one.name,
                one.balance,
                one.held,
                one.available,
                one.currency,
                one.enabled ? (one.stopped_reason ?? "enabled") : "disabled"
              ]
            )
        )
      )
    ).pipe(Command.withDescription("List organisations, newest first")),
    Command.make("create", { name: newName }, ({ name }) =>
      asOperator(({ gateway }) =>
        Effect.flatMap(gateway.admin.createOrganization({ payload: { name } }), (created) =>
          printResult(created, () => created.id)
        )
      )
    ).pipe(Command.withDescription("Create one, with an empty pool, and print its id")),
    Command.make("show", { organization }, ({ organization }) =>
      asOperator(({ gateway }) =>
        Effect.flatMap(gateway.accounts.readOrganization({ params: { id: organization } }), (one) =>
          printResult(one, () => facts(Object.entries(one)))
        )
      )
    ).pipe(Command.withDescription("Show one, and what its pool has")),
    Command.make(
      "credit",
      {
        organization,
        amount: Argument.String("amount").pipe(
          Argument.withDescription("Such as 100, or 0 for none"),
          Argument.withSchema(Amount)
        ),
        holds: Flag.Literals("holds", ["yes", "no"]).pipe(
          Flag.withDescription("Whether holds may use the credit as well"),
          Flag.map((holds) => ({ holds_on_credit: holds === "yes" })),
          Flag.withDefault({})
        )
      },
      ({ organization, amount, holds }) =>
        changeOrganization(organization, { credit: amount, ...holds }, (one) => {
          const use = one.holds_on_credit ? ", which holds may use" : ""
          return `${one.id} has a credit of ${one.credit} ${one.currency}${use}.`
        })
    ).pipe(
      Command.withDescription("Set how far below zero orders of unknown size may take its pool")
    ),
    Command.make(
      "price-list",
      {
        organization,
        list: Argument.String("list").pipe(
          Argument.withDescription("Id of the price list, or none for the catalog's prices")
        )
      },
      ({ organization, list }) =>
        changeOrganization(organization, { price_list: list === "none" ? null : list }, (one) =>
          one.price_list === null
            ? `${one.id} pays the catalog's prices.`
            : `${one.id} is on the price list ${one.price_list}.`
        )
    ).pipe(Command.withDescription("Put one on a price list, for its next orders")),
    Command.make(
      "watermark",
      {
        organization,
        mark: Argument.Literals("mark", ["on", "off", "default"]).pipe(
          Argument.withDescription("default leaves it to its price list and the gateway")
        )
      },
      ({ organization, mark }) =>
        changeOrganization(organization, { watermark: marks[mark] }, (one) =>
          one.watermark === null
            ? `Orders of ${one.id} are marked by the default.`
            : `Orders of ${one.id} are ${one.watermark ? "" : "not "}marked unless they say otherwise.`
        )
    ).pipe(
      Command.withDescription("Set whether its orders are marked as made by AI unless they say")
    )
  ])
)

const cap = Flag.String("cap").pipe(
  Flag.withDescription("The most the member may hold and spend in a calendar month, such as 100"),
  Flag.withSchema(Amount),
  Flag.map((monthly_cap) => ({ monthly_cap })),
  Flag.withDefault({})
)

const CapOrNone = Schema.Union([Schema.Literal("none"), Amount])

const members = Command.make("member").pipe(
  Command.withDescription("Members, who hold keys and spend from a pool"),
  Command.withSubcommands([
    Command.make(
      "list",
      { ...page, name, ofOrganization },
      ({ after, limit, name, ofOrganization }) =>
        asOperator(({ gateway }) =>
          Effect.flatMap(
            gateway.accounts.listMembers({
              query: { ...after, ...name, ...ofOrganization, limit, ...noTotals }
            }),
            (list) =>
              printPage(
                list,
                ["id", "organization", "name", "monthly cap", "used", "held", "state"],
                (one) => [
                  one.id,
                  one.organization_id,
                  one.name,
                  one.monthly_cap,
                  one.month.used,
                  one.month.held,
                  one.enabled ? "enabled" : "disabled"
                ]
              )
          )
        )
    ).pipe(Command.withDescription("List members, newest first, with what they used this month")),
    Command.make("create", { organization, name: newName, cap }, ({ organization, name, cap }) =>
      asOperator(({ gateway }) =>
        Effect.flatMap(
          gateway.admin.createMember({ params: { id: organization }, payload: { name, ...cap } }),
          (created) =>
            printResult(
              {
                ...created,
                monthly_cap: created.monthly_cap === null ? null : formatNano(created.monthly_cap)
              },
              () => created.id
            )
        )
      )
    ).pipe(Command.withDescription("Create one, and print its id")),
    Command.make(
      "cap",
      {
        member: idOf("member"),
        amount: Argument.String("amount").pipe(
          Argument.withDescription("Such as 100, or none"),
          Argument.withSchema(CapOrNone)
        )
      },
      ({ member, amount }) =>
        asOperator(({ gateway }) =>
          Effect.flatMap(
            gateway.accounts.changeMember({
              params: { id: member },
              payload: { monthly_cap: amount === "none" ? null : amount }
            }),
            (one) =>
              printResult(one, () =>
                one.monthly_cap === null
                  ? `${one.id} has no cap any more.`
                  : `${one.id} may hold and spend ${one.monthly_cap} a month.`
              )
          )
        )
    ).pipe(Command.withDescription("Change what a member may hold and spend in a calendar month")),
    ...(["enable", "disable"] as const).map((verb) =>
      Command.make(verb, { member: idOf("member") }, ({ member }) =>
        asOperator(({ gateway }) =>
          Effect.flatMap(
            gateway.accounts.changeMember({
              params: { id: member },
              payload: { enabled: verb === "enable" }
            }),
            (one) => printResult(one, () => `${one.id} is ${verb}d.`)
          )
        )
      ).pipe(
        Command.withDescription(
          verb === "enable" ? "Let its keys open again" : "Let its keys open nothing"
        )
      )
    )
  ])
)

/** The entries of a list with commas in between. */
export const splitList = (text: string): ReadonlyArray<string> =>
  text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")

const decodeScopes = Schema.decodeUnknownOption(Schema.NonEmptyArray(Scope))

const keys = Command.make("key").pipe(
  Command.withDescription("API keys of members"),
  Command.withSubcommands([
    Command.make(
      "list",
      {
        ...page,
        name,
        ofOrganization,
        member: Flag.String("member").pipe(
          Flag.withDescription("Only those of this member"),
          Flag.map((member_id) => ({ member_id })),
          Flag.withDefault({})
        )
      },
      ({ after, limit, name, ofOrganization, member }) =>
        asOperator(({ gateway }) =>
          Effect.flatMap(
            gateway.accounts.listKeys({
              query: { ...after, ...name, ...ofOrganization, ...member, limit, ...noTotals }
            }),
            (list) =>
              printPage(
                list,
                ["id", "member", "name", "scopes", "models", "expires", "revoked"],
                (one) => [
                  one.id,
                  one.member_id,
                  one.name,
                  one.scopes.join(","),
                  one.models === null ? "all" : one.models.join(","),
                  one.expires_at,
                  one.revoked_at
                ]
              )
          )
        )
    ).pipe(Command.withDescription("List keys, newest first, without what opens anything")),
    Command.make(
      "create",
      {
        member: idOf("member"),
        name: newName,
        scopes: Flag.String("scopes").pipe(
          Flag.withDescription(`What it may do, of ${allScopes.join(",")}`),
          Flag.map(splitList),
          Flag.filterMap(
            (names: ReadonlyArray<string>) => decodeScopes(names),
            (names) => `Expected some of ${allScopes.join(",")}, not ${names.join(",")}`
          ),
          Flag.withDefault(usualScopes)
        ),
        models: Flag.String("models").pipe(
          Flag.withDescription("The models it may order, with commas in between; all without"),
          Flag.map(splitList),
          Flag.withDefault(null)
        ),
        expires: Flag.Date("expires-at").pipe(
          Flag.withDescription("From when it opens nothing, such as 2027-01-31T12:00:00Z"),
          Flag.withDefault(null)
        ),
        rate: Flag.Int("requests-per-minute").pipe(
          Flag.withDescription("Its rate, instead of the gateway's default"),
          Flag.withDefault(null)
        ),
        budget: Flag.String("budget").pipe(
          Flag.withDescription("The most that it may spend in a period, such as 10"),
          Flag.withSchema(Amount),
          Flag.withDefault(null)
        ),
        budgetPeriod: Flag.Literals("budget-period", budgetPeriods).pipe(
          Flag.withDescription("When the budget starts again at zero; month without"),
          Flag.withDefault(null)
        )
      },
      Effect.fn("cli.keyCreate")(function* (flags) {
        const { member, name, scopes, models, expires, rate, budget, budgetPeriod } = flags
        if (models?.length === 0) {
          return yield* new CommandFailure({
            message: "--models names none: leave it out for all of them"
          })
        }
        if (budget === null && budgetPeriod !== null) {
          return yield* new CommandFailure({
            message: "--budget-period is of a budget: give its amount with --budget"
          })
        }
        const ownBudget = {
          amount: budget ?? 0n,
          period: budgetPeriod ?? "month",
          thresholds: usualThresholds
        }
        yield* asOperator(({ gateway }) =>
          Effect.flatMap(
            gateway.admin.createKey({
              params: { id: member },
              payload: {
                name,
                scopes,
                models,
                expires_at: expires,
                requests_per_minute: rate,
                ...(budget === null ? {} : { budget: ownBudget })
              }
            }),
            (created) =>
              // Only the key is printed to stdout, for `KEY=$(...)`; it cannot be read again later.
              Effect.andThen(
                printResult(created, () => created.key),
                created.budget === undefined
                  ? Effect.void
                  : Console.error(keyBudgetText(created.budget))
              )
          )
        )
      })
    ).pipe(Command.withDescription("Create one, and print it: it is shown this once")),
    Command.make("revoke", { key: idOf("key") }, ({ key }) =>
      asOperator(({ gateway }) =>
        Effect.flatMap(gateway.admin.revokeKey({ params: { id: key } }), (revocation) =>
          printResult(revocation, () => `${revocation.id} opens nothing any more.`)
        )
      )
    ).pipe(Command.withDescription("Revoke one, on every gateway within a second"))
  ])
)

export const accountCommands = [organizations, members, keys] as const
