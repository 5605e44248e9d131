/** The command that lists orders. */
import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import { publicStates } from "../../domain/taskStates.ts"
import { printResult, table } from "../output.ts"
import { after, limit, ofOrganization } from "./accounts.ts"
import { asOperator } from "./connection.ts"

const filters = {
  ofOrganization,
  member: Flag.String("member").pipe(
    Flag.withDescription("Only those of this member"),
    Flag.map((member_id) => ({ member_id })),
    Flag.withDefault({})
  ),
  key: Flag.String("key").pipe(
    Flag.withDescription("Only those of the API key with this id"),
    Flag.map((key_id) => ({ key_id })),
    Flag.withDefault({})
  ),
  model: Flag.String("model").pipe(
    Flag.withDescription("Only those of this model"),
    Flag.map((model) => ({ model })),
    Flag.withDefault({})
  ),
  channel: Flag.String("channel").pipe(
    Flag.withDescription("Only those of this channel"),
    Flag.map((channel) => ({ channel })),
    Flag.withDefault({})
  ),
  state: Flag.Literals("state", publicStates).pipe(
    Flag.withDescription("Only those in this state"),
    Flag.map((state) => ({ state })),
    Flag.withDefault({})
  ),
  tag: Flag.String("tag").pipe(
    Flag.withDescription("Only those with this metadata, such as project=lighthouse"),
    Flag.map((tag) => ({ tag })),
    Flag.withDefault({})
  ),
  from: Flag.String("from").pipe(
    Flag.withDescription("Only those of this day or time and later, such as 2027-01-31"),
    Flag.map((from) => ({ from })),
    Flag.withDefault({})
  ),
  to: Flag.String("to").pipe(
    Flag.withDescription("Only those before this time; a day is included"),
    Flag.map((to) => ({ to })),
    Flag.withDefault({})
  ),
  upstreamId: Flag.String("upstream-id").pipe(
    Flag.withDescription("Only the one with this id at the vendor"),
    Flag.map((upstream_id) => ({ upstream_id })),
    Flag.withDefault({})
  )
}

const columns = [
  "id",
  "organization",
  "model",
  "channel",
  "state",
  "hold",
  "charge",
  "currency",
  "error",
  "created"
] as const

const list = Command.make("list", { ...filters, after, limit }, ({ after, limit, ...flags }) =>
  asOperator(({ gateway }) =>
    Effect.flatMap(
      gateway.orderLists.listOrders({
        query: {
          ...flags.ofOrganization,
          ...flags.member,
          ...flags.key,
          ...flags.model,
          ...flags.channel,
          ...flags.state,
          ...flags.tag,
          ...flags.from,
          ...flags.to,
          ...flags.upstreamId,
          ...after,
          limit,
          totals: "false"
        }
      }),
      (page) =>
        printResult(page, () => {
          const rows = page.data.map((one) => [
            one.id,
            one.organization_id,
            one.model,
            one.channel,
            one.state,
            one.hold,
            one.charge,
            one.currency,
            one.error_code,
            one.created_at
          ])
          // A page of filtered orders may be empty although older orders match.
          return [
            rows.length > 0 ? table(columns, rows) : "No orders on this page.",
            ...(page.has_more && page.next !== null ? [`There are more: --after ${page.next}`] : [])
          ].join("\n")
        })
    )
  )
).pipe(
  Command.withDescription("List orders of one organisation or of all, newest first"),
  Command.withExamples([
    {
      command: "media-gateway order list --state failed --from 2027-01-31",
      description: "The orders that failed since that day"
    }
  ])
)

export const orderCommand = Command.make("order").pipe(
  Command.withDescription("Orders of videos, images and texts"),
  Command.withSubcommands([list])
)
