/** The commands of budgets, which limit what organisations, members and keys may spend. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { budgetPeriods, budgetScopes, usualThresholds } from "../../domain/money/budgets.ts"
import { Amount } from "../../domain/money/Money.ts"
import type { BudgetView } from "../../http/api/admin/budgets.ts"
import { CommandFailure } from "../failures.ts"
import { facts, printPage, printResult } from "../output.ts"
import { after, idOf, limit, organization, splitList } from "./accounts.ts"
import { asOperator } from "./connection.ts"

const budget = idOf("budget")

const subject = Flag.String("subject").pipe(
  Flag.withDescription("Id of the organisation, member or key"),
  Flag.map((subject_id) => ({ subject_id })),
  Flag.withDefault({})
)

const thresholds = Flag.String("thresholds").pipe(
  Flag.withDescription("Percents of the amount that send `budget.threshold`, such as 50,80,100"),
  Flag.map(splitList),
  Flag.filterMap(
    (percents) =>
      percents.every((percent) => /^\d{1,4}$/.test(percent))
        ? Option.some(percents.map(Number))
        : Option.none(),
    (percents) => `Expected whole numbers such as 50,80,100, not ${percents.join(",")}`
  )
)

const usageText = (one: BudgetView): string =>
  `${one.id}: ${one.used} of ${one.amount} used${one.exceeded ? ", new orders are refused" : ""}.`

const list = Command.make(
  "list",
  { organization, subject, after, limit },
  ({ organization, subject, after, limit }) =>
    asOperator(({ gateway }) =>
      Effect.flatMap(
        gateway.budgets.listBudgets({
          params: { id: organization },
          query: { ...after, ...subject, limit }
        }),
        (page) =>
          printPage(
            page,
            ["id", "scope", "subject", "period", "amount", "used", "available", "resets at"],
            (one) => [
              one.id,
              one.is_member_cap ? "member cap" : one.scope,
              one.subject_id,
              one.period,
              one.amount,
              one.used,
              one.available,
              one.resets_at
            ]
          )
      )
    )
).pipe(Command.withDescription("List budgets of an organisation, with what is used of each"))

const create = Command.make(
  "create",
  {
    organization,
    amount: Argument.String("amount").pipe(
      Argument.withDescription("The most that may be held and charged in a period, such as 100"),
      Argument.withSchema(Amount)
    ),
    scope: Flag.Literals("scope", budgetScopes).pipe(
      Flag.withDescription("Whose orders count"),
      Flag.withDefault("organization" as const)
    ),
    subject,
    period: Flag.Literals("period", budgetPeriods).pipe(
      Flag.withDescription("When the used amount starts again at zero"),
      Flag.withDefault("month" as const)
    ),
    thresholds: thresholds.pipe(Flag.withDefault(usualThresholds))
  },
  ({ organization, subject, ...body }) =>
    asOperator(({ gateway }) =>
      Effect.flatMap(
        gateway.budgets.createBudget({
          params: { id: organization },
          payload: { ...body, ...subject }
        }),
        (created) => printResult(created, () => usageText(created))
      )
    )
).pipe(
  Command.withDescription("Create a budget"),
  Command.withExamples([
    {
      command: "media-gateway budget create org_... 100 --scope key --subject key_... --period day",
      description: "The key may spend 100 a day"
    }
  ])
)

const show = Command.make("show", { organization, budget }, ({ organization, budget }) =>
  asOperator(({ gateway }) =>
    Effect.flatMap(
      gateway.budgets.readBudget({ params: { id: organization, budget_id: budget } }),
      (one) =>
        printResult(one, () =>
          facts(
            Object.entries({ ...one, thresholds: one.thresholds.map((at) => `${at} %`).join(", ") })
          )
        )
    )
  )
).pipe(Command.withDescription("Show a budget, with what is used of it"))

const change = Command.make(
  "change",
  {
    organization,
    budget,
    amount: Flag.String("amount").pipe(
      Flag.withDescription("The new amount; unchanged when left out"),
      Flag.withSchema(Amount),
      Flag.map((amount) => ({ amount })),
      Flag.withDefault({})
    ),
    thresholds: thresholds.pipe(
      Flag.map((thresholds) => ({ thresholds })),
      Flag.withDefault({})
    )
  },
  Effect.fn("cli.budgetChange")(function* ({ organization, budget, amount, thresholds }) {
    const payload = { ...amount, ...thresholds }
    if (Object.keys(payload).length === 0) {
      return yield* new CommandFailure({ message: "Expected --amount, --thresholds or both" })
    }
    yield* asOperator(({ gateway }) =>
      Effect.flatMap(
        gateway.budgets.changeBudget({
          params: { id: organization, budget_id: budget },
          payload
        }),
        (changed) => printResult(changed, () => usageText(changed))
      )
    )
  })
).pipe(Command.withDescription("Change the amount or the thresholds, for new orders"))

const remove = Command.make("remove", { organization, budget }, ({ organization, budget }) =>
  asOperator(({ gateway }) =>
    Effect.flatMap(
      gateway.budgets.removeBudget({ params: { id: organization, budget_id: budget } }),
      (removed) => printResult(removed, () => `${removed.id} is removed.`)
    )
  )
).pipe(Command.withDescription("Remove a budget; running orders go on without it"))

export const budgetCommand = Command.make("budget").pipe(
  Command.withDescription("Budgets of organisations, members and keys"),
  Command.withSubcommands([list, create, show, change, remove])
)
