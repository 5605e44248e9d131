/**
 * The commands by which operators move money. Each command takes a reference: a repeat with the
 * same reference moves nothing.
 */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { PositiveAmount } from "../../domain/money/Money.ts"
import { adjustmentKinds } from "../../domain/money/transfers.ts"
import { printResult } from "../output.ts"
import { organization } from "./accounts.ts"
import { asOperator } from "./connection.ts"

const amount = Argument.String("amount").pipe(
  Argument.withDescription("Decimal of currency units, such as 500 or 0.25"),
  Argument.withSchema(PositiveAmount)
)
const reference = Flag.String("reference").pipe(
  Flag.withDescription("What you call it, such as an invoice: a repeat moves nothing")
)

const REPEATED = "was booked before: nothing moved."

const deposit = Command.make(
  "deposit",
  { organization, amount, reference },
  ({ organization, amount, reference }) =>
    asOperator(({ gateway }) =>
      Effect.flatMap(
        gateway.admin.deposit({ params: { id: organization }, payload: { amount, reference } }),
        (transfer) =>
          printResult(transfer, () =>
            transfer.applied
              ? `Deposited. The balance is ${transfer.balance}.`
              : `"${reference}" ${REPEATED} The balance is ${transfer.balance}.`
          )
      )
    )
).pipe(
  Command.withDescription("Add money to an organisation's pool, once per reference"),
  Command.withExamples([
    {
      command: 'media-gateway deposit org_... 500 --reference "invoice 17"',
      description: "May be repeated: the money comes once"
    }
  ])
)

const adjust = Command.make(
  "adjust",
  {
    organization,
    amount,
    reference,
    kind: Flag.Literals("kind", adjustmentKinds).pipe(
      Flag.withDescription(
        "credit gives, withdrawal takes, and correction gives a charge back, or a part of it"
      )
    ),
    reason: Flag.String("reason").pipe(
      Flag.withDescription("Why; the journal and the receipt tell it")
    ),
    usage: Flag.String("usage").pipe(
      Flag.withDescription("Id of the charge that a correction is about"),
      Flag.map((usage_id) => ({ usage_id })),
      Flag.withDefault({})
    )
  },
  ({ organization, usage, ...body }) =>
    asOperator(({ gateway }) =>
      Effect.flatMap(
        gateway.money.adjust({ params: { id: organization }, payload: { ...body, ...usage } }),
        (transfer) =>
          printResult(transfer, () =>
            transfer.applied
              ? `Booked as ${transfer.id}. The balance is ${transfer.balance}.`
              : `"${body.reference}" ${REPEATED} The balance is ${transfer.balance}.`
          )
      )
    )
).pipe(Command.withDescription("Move money without an order, once per reference"))

export const moneyCommands = [deposit, adjust] as const
