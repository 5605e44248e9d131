/**
 * A channel tried for real: the smallest order of each form of its models. An organisation of its own
 * pays for it from a pool that holds no more than may be spent, so that the books bound and prove the
 * money as they do for everybody. The report says what was sent and what came, without keys and media.
 */
import { Clock, Effect, FileSystem, Option, Predicate, Schedule, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { layer, MediaGateway } from "../../client/typedClient.ts"
import type { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import { mountProtocol } from "../../domain/catalog/CatalogRules.ts"
import { PositiveAmount } from "../../domain/money/Money.ts"
import { isFinal } from "../../domain/taskStates.ts"
import { answeredWords, EndsWith, Failed, failedTo } from "../failures.ts"
import { table, tell } from "../output.ts"
import { asOperator, type Gateway, type Remote } from "./connection.ts"
import { drawnImages, type TrialMedia, type TrialOrder, trialOrders } from "./trialOrders.ts"

const PAUSE = "1 second"
/** Vendors make a video in minutes. */
const PATIENCE = "40 minutes"

/** The models whose orders go to the channel first, of those that were asked for. */
const modelsOf = (
  { models, mounts }: CatalogDocument,
  channel: string,
  wanted: Option.Option<string>
) =>
  models.flatMap((model) => {
    if (
      (model.modality !== "video" && model.modality !== "image") ||
      !Option.getOrElse(
        Option.map(wanted, (id) => id === model.id),
        () => true
      )
    ) {
      return []
    }
    const own = mounts.filter((mount) => mount.model === model.id && mount.enabled !== false)
    const mount = own.find((one) => one.channel === channel)
    const isFirst =
      mount !== undefined && own.every((one) => one === mount || one.priority > mount.priority)
    return isFirst
      ? [
          {
            model: model.id,
            protocol: mountProtocol(model, mount),
            upstreamModel: mount.upstream_model ?? model.id
          }
        ]
      : []
  })

/** Somebody to order as, with so much money. */
const opened = Effect.fnUntraced(function* (
  { gateway, address, token }: Remote,
  channel: string,
  spend: bigint
) {
  const name = `Trial of channel ${channel} ${new Date(yield* Clock.currentTimeMillis).toISOString()}`
  const organization = yield* gateway.admin.createOrganization({ payload: { name } })
  const params = { id: organization.id }
  yield* gateway.money.adjust({
    params,
    payload: { amount: spend, kind: "credit", reason: "trial of a channel", reference: name }
  })
  const member = yield* gateway.admin.createMember({ params, payload: { name: "operator" } })
  const key = yield* gateway.admin.createKey({
    params: { id: member.id },
    payload: {
      name: "trial",
      scopes: ["models", "videos", "images"],
      models: null,
      expires_at: null,
      requests_per_minute: null
    }
  })
  const orders = yield* MediaGateway.pipe(
    Effect.provide(layer({ baseUrl: address, apiKey: key.key, adminToken: token, retries: 0 }))
  )
  return { organization: organization.id, key: key.id, name, orders }
})

type Opened = Effect.Success<ReturnType<typeof opened>>

/** Nothing is left to order with, and what was not spent is taken back. */
const closed = Effect.fnUntraced(function* (gateway: Gateway, { organization, key, name }: Opened) {
  const params = { id: organization }
  yield* gateway.admin.revokeKey({ params: { id: key } })
  const { available } = yield* gateway.accounts.readOrganization({ params })
  const left = Schema.decodeUnknownOption(PositiveAmount)(available)
  if (Option.isSome(left)) {
    yield* gateway.money.adjust({
      params,
      payload: {
        amount: left.value,
        kind: "withdrawal",
        reason: "trial of a channel",
        reference: `${name}, the rest`
      }
    })
  }
})

/** Media in the order are too long to be read by people. */
const MAX_ADDRESS = 200
const shortened = (value: unknown): unknown =>
  typeof value === "string" && value.length > MAX_ADDRESS
    ? `${value.slice(0, 40)}... (${value.length} characters)`
    : Array.isArray(value)
      ? value.map(shortened)
      : Predicate.isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortened(one)]))
        : value

/** What the gateway says of an order that it does not take; nothing of one that it does. */
const refusalOf = <A, E>(order: Effect.Effect<A, E>): Effect.Effect<string> =>
  Effect.match(order, {
    onSuccess: () => "",
    onFailure: (error) => answeredWords(error) ?? String(error)
  })

/** Orders one, and answers the task of it: also of an order that the vendor refused, which has been one. */
const ordered = Effect.fnUntraced(function* (
  operator: Gateway,
  { organization, orders }: Opened,
  trial: TrialOrder
) {
  const newest = Effect.map(
    operator.orderLists.listTasks({
      query: { organization_id: organization, limit: 1, totals: "false" }
    }),
    ({ data }) => data[0]?.id ?? null
  )
  const { form, body } = trial
  const before = yield* newest
  const says = yield* trial.kind === "video"
    ? refusalOf(orders.videos.create({ payload: trial.body, headers: {} }))
    : refusalOf(
        orders.images.generate({ payload: trial.body, headers: { prefer: "respond-async" } })
      )
  const id = yield* newest
  return { form, order: shortened(body), id: id === before ? null : id, says }
})

type Ordered = Effect.Success<ReturnType<typeof ordered>>

/** What came of an order in the end, with what was sent for it and what came back. */
const followed = Effect.fnUntraced(function* (operator: Gateway, { id, ...one }: Ordered) {
  if (id === null) return { ...one, id, state: "not ordered", calls: [], ledger: [] }
  const read = operator.history.readTask({ params: { id } })
  const timeline = yield* read.pipe(
    Effect.repeat({ until: ({ state }) => isFinal(state), schedule: Schedule.spaced(PAUSE) }),
    Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => read })
  )
  const { state, error, channel, upstream_calls: calls, ledger } = timeline
  const says = one.says === "" ? (error?.message ?? "") : one.says
  return { ...one, id, state, channel, says, calls, ledger }
})

type Followed = Effect.Success<ReturnType<typeof followed>>

const chargeOf = ({ ledger }: Pick<Followed, "ledger">): string =>
  ledger.find(({ kind }) => kind === "usage")?.amount ?? "0"

const url = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional)

export const tryChannel = Command.make(
  "try",
  {
    channel: Argument.String("channel").pipe(Argument.withDescription("The channel's id")),
    model: url("model", "Only this model of it"),
    spend: Flag.String("spend").pipe(
      Flag.withDescription("The most that may be spent, such as 5, by the catalog's prices"),
      Flag.withSchema(PositiveAmount)
    ),
    image: url("image", "Address of a picture that the vendor can read; one is drawn without"),
    secondImage: url("second-image", "The same of another one, for last frames and references"),
    video: url("video", "Address of a reference video; without it none is tried"),
    audio: url("audio", "Address of a reference sound; without it none is tried"),
    output: Flag.File("output").pipe(
      Flag.withAlias("o"),
      Flag.withDescription("File for the report; channel-trial.json without"),
      Flag.withDefault("channel-trial.json")
    )
  },
  Effect.fn("cli.channelTry")(function* ({ channel, model, spend, output, ...given }) {
    const [one, other] = yield* drawnImages
    const media: TrialMedia = {
      images: [
        Option.getOrElse(given.image, () => one),
        Option.getOrElse(given.secondImage, () => other)
      ],
      video: Option.getOrNull(given.video),
      audio: Option.getOrNull(given.audio)
    }
    const report = yield* asOperator(
      Effect.fnUntraced(function* (remote: Remote) {
        const { gateway } = remote
        const models = modelsOf(yield* gateway.admin.readCatalog(), channel, model)
        if (models.length === 0) {
          return yield* new Failed({
            message: `No video or image model's orders go to the channel ${channel} first${Option.match(model, { onNone: () => "", onSome: (id) => `, or not those of ${id}` })}`
          })
        }
        return yield* Effect.acquireUseRelease(
          opened(remote, channel, spend),
          (who) =>
            Effect.gen(function* () {
              const results = yield* Effect.forEach(models, (served) =>
                Effect.gen(function* () {
                  const entry = yield* who.orders.models.read({ params: { id: served.model } })
                  // One after the other: the newest task is that of the order before.
                  const all = yield* Effect.forEach(trialOrders(entry, media), (trial) =>
                    ordered(gateway, who, trial)
                  )
                  const trials = yield* Effect.forEach(all, (one) => followed(gateway, one), {
                    concurrency: "unbounded"
                  })
                  return { ...served, trials }
                })
              )
              return { channel, organization: who.organization, models: results }
            }),
          (who) => Effect.orDie(closed(gateway, who))
        )
      })
    )
    const files = yield* FileSystem.FileSystem
    yield* Effect.mapError(
      files.writeFileString(output, `${JSON.stringify(report, null, 2)}\n`),
      failedTo(output)
    )
    const rows = report.models.flatMap(({ model, trials }) =>
      trials.map((trial) => [model, trial.form, trial.state, chargeOf(trial), trial.says])
    )
    yield* tell(
      report,
      () =>
        `${table(["model", "ordered", "came to", "charge", "says"], rows)}\n\nThe report is in ${output}.`
    )
    if (rows.some(([, , state]) => state !== "succeeded")) return yield* new EndsWith({ code: 1 })
  })
).pipe(
  Command.withDescription(
    "Order the smallest video or image of each form from its vendor, within a bound of money, and write what was sent and what came; ends with 1 where one did not succeed"
  ),
  Command.withExamples([
    {
      command: "media-gateway channel try kling-main --model clip-1 --spend 5",
      description: "The report can be handed on: it holds no keys and no media"
    }
  ])
)
