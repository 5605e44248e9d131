/** The commands of channels, which are accounts at vendors: list, test, drain and resume. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import type { ChannelCheckView, ChannelView } from "../../features/catalog/ChannelsApi.ts"
import { ExitWith } from "../failures.ts"
import { printPage, printResult, table } from "../output.ts"
import { after, limit } from "./accounts.ts"
import { tryChannel } from "./channelTry.ts"
import { asOperator } from "./connection.ts"

const channel = Argument.String("channel").pipe(Argument.withDescription("The channel's id"))

/** Whether the test of a channel found that the channel cannot be called. */
export const isFaulty = ({ reachable, credential_accepted }: ChannelCheckView): boolean =>
  reachable === false || credential_accepted === false

/** The state of a channel, without the terms of circuit breakers for one that takes orders. */
const stateText = ({ state }: ChannelView): string => (state === "closed" ? "serving" : state)

const failureCount = ({ failures }: ChannelView): number =>
  Object.values(failures).reduce((sum, count) => sum + count, 0)

const list = Command.make("list", { after, limit }, ({ after, limit }) =>
  asOperator(({ gateway }) =>
    Effect.flatMap(gateway.channels.listChannels({ query: { ...after, limit } }), (page) =>
      printPage(
        page,
        [
          "id",
          "name",
          "state",
          "cooldown",
          "slowed",
          "open tasks",
          "calls",
          "failures",
          "refused",
          "last failure"
        ],
        (one) => [
          one.id,
          one.name,
          stateText(one),
          one.model_rests.map(({ model }) => model).join(" "),
          one.slowed_organizations.map(({ organization_id }) => organization_id).join(" "),
          one.open_tasks,
          one.calls,
          failureCount(one),
          one.refused,
          one.last_failure === null ? null : `${one.last_failure.reason} at ${one.last_failure.at}`
        ]
      )
    )
  )
).pipe(Command.withDescription("List channels, and how each is doing"))

const test = Command.make(
  "test",
  { channel },
  Effect.fn("cli.channelTest")(function* ({ channel }) {
    const checks = yield* asOperator(({ gateway }) =>
      gateway.channels.testChannel({ params: { id: channel } })
    )
    yield* printResult(checks, () =>
      table(
        ["protocol", "key", "reachable", "credential", "took", "says"],
        checks.data.map((one) => [
          one.protocol,
          one.key,
          one.reachable,
          one.credential_accepted,
          one.duration_ms === null ? null : `${one.duration_ms} ms`,
          one.message
        ])
      )
    )
    if (checks.data.some(isFaulty)) return yield* new ExitWith({ code: 1 })
  })
).pipe(
  Command.withDescription("Ask its vendor something that costs nothing; ends with 1 where it fails")
)

const switching = (verb: "drain" | "enable", description: string) =>
  Command.make(verb, { channel }, ({ channel }) =>
    asOperator(({ gateway }) =>
      Effect.flatMap(gateway.channels[`${verb}Channel`]({ params: { id: channel } }), (one) =>
        printResult(one, () => `${one.id} is ${stateText(one)}, with ${one.open_tasks} open tasks.`)
      )
    )
  ).pipe(Command.withDescription(description))

export const channelCommand = Command.make("channel").pipe(
  Command.withDescription("Accounts at vendors"),
  Command.withSubcommands([
    list,
    test,
    tryChannel,
    switching("drain", "Give it no more orders; its tasks are asked to their end"),
    switching("enable", "Enable the channel again, and end its cooldowns")
  ])
)
