/**
 * The commands of orphans. An orphan is an order whose vendor may have completed a job that no
 * client paid for, or an order that was charged but not delivered.
 */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { facts, printPage, printResult } from "../output.ts"
import { after, limit, ofOrganization } from "./accounts.ts"
import { asOperator } from "./connection.ts"

const orphan = Argument.String("orphan").pipe(
  Argument.withDescription("Id of the order, as the list has it")
)

export const orphanCommand = Command.make("orphan").pipe(
  Command.withDescription("Jobs that vendors may have made and nobody paid for"),
  Command.withSubcommands([
    Command.make(
      "list",
      {
        after,
        limit,
        ofOrganization,
        settled: Flag.Boolean("settled").pipe(
          Flag.withDescription("Those that are settled, instead of the open ones"),
          Flag.withDefault(false)
        ),
        channel: Flag.String("channel").pipe(
          Flag.withDescription("Only those of this channel"),
          Flag.map((channel) => ({ channel })),
          Flag.withDefault({})
        )
      },
      ({ after, limit, ofOrganization, settled, channel }) =>
        asOperator(({ gateway }) =>
          Effect.flatMap(
            gateway.history.listOrphans({
              query: {
                ...after,
                limit,
                ...ofOrganization,
                ...channel,
                resolved: settled ? "true" : "false"
              }
            }),
            (page) =>
              printPage(
                page,
                [
                  "id",
                  "organization",
                  "channel",
                  "vendor's id",
                  "reason",
                  "held",
                  "charge",
                  "created"
                ],
                (one) => [
                  one.id,
                  one.organization_id,
                  one.channel,
                  one.upstream_id,
                  one.reason,
                  one.amount_held,
                  one.charge,
                  one.created_at
                ]
              )
          )
        )
    ).pipe(Command.withDescription("List those that are open")),
    Command.make("show", { orphan }, ({ orphan }) =>
      asOperator(({ gateway }) =>
        Effect.flatMap(gateway.history.readTask({ params: { id: orphan } }), (one) =>
          printResult(one.orphan, () =>
            one.orphan === null
              ? `${one.id} is no orphan.`
              : facts(
                  Object.entries(one.orphan).map(([name, value]) => [
                    name,
                    typeof value === "string" || value === null ? value : JSON.stringify(value)
                  ])
                )
          )
        )
      )
    ).pipe(Command.withDescription("Show one")),
    Command.make(
      "settle",
      {
        orphan,
        note: Flag.String("note").pipe(Flag.withDescription("How the case was settled"))
      },
      ({ orphan, note }) =>
        asOperator(({ gateway }) =>
          Effect.flatMap(
            gateway.history.resolveOrphan({ params: { id: orphan }, payload: { note } }),
            (one) => printResult(one, () => `${one.id} is settled.`)
          )
        )
    ).pipe(Command.withDescription("Note how one was settled"))
  ])
)
