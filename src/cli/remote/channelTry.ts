/**
 * Tests a channel with real orders: the smallest order of each form of its models. A separate
 * organisation pays for these orders. Its balance is the permitted spend, so the ledger limits and
 * proves the cost as for any customer. The report shows requests and responses without keys and
 * media.
 */
import { Clock, Effect, FileSystem, Option, Predicate, Schedule, Schema, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { layer, MediaGateway } from "../../client/typedClient.ts"
import type { CatalogDocument } from "../../domain/catalog/CatalogDocument.ts"
import { mountProtocol } from "../../domain/catalog/CatalogRules.ts"
import { PositiveAmount } from "../../domain/money/Money.ts"
import { isFinal } from "../../domain/taskStates.ts"
import { CommandFailure, ExitWith, failureOf, gatewayErrorText } from "../failures.ts"
import { printResult, table } from "../output.ts"
import { asOperator, type Gateway, type Remote } from "./connection.ts"
import {
  drawnImages,
  isTried,
  type TrialMedia,
  type TrialOrder,
  trialOrders
} from "./trialOrders.ts"

const PAUSE = "1 second"
/** The time limit of an order. It is long, because vendors take minutes to make a video. */
const PATIENCE = "40 minutes"

/**
 * The models of the tried modalities whose orders the gateway sends to this channel first. Where a
 * model is requested, all others are left out.
 */
const modelsOf = (
  { models, mounts }: CatalogDocument,
  channel: string,
  requestedModel: Option.Option<string>
) =>
  models.flatMap((model) => {
    if (
      !isTried(model.modality) ||
      !Option.getOrElse(
        Option.map(requestedModel, (id) => id === model.id),
        () => true
      )
    ) {
      return []
    }
    const modelMounts = mounts.filter(
      (mount) => mount.model === model.id && mount.enabled !== false
    )
    const mount = modelMounts.find((one) => one.channel === channel)
    const isFirst =
      mount !== undefined &&
      modelMounts.every((one) => one === mount || one.priority > mount.priority)
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

/** Creates an organisation with a balance of `spend`, and an API key to order with. */
const openTrialAccount = Effect.fnUntraced(function* (
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
      scopes: ["models", "videos", "images", "rerank", "audio"],
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

type TrialAccount = Effect.Success<ReturnType<typeof openTrialAccount>>
type Orders = TrialAccount["orders"]

/** Revokes the API key, and withdraws the unspent balance. */
const closeTrialAccount = Effect.fnUntraced(function* (
  gateway: Gateway,
  { organization, key, name }: TrialAccount
) {
  const params = { id: organization }
  yield* gateway.admin.revokeKey({ params: { id: key } })
  const { available } = yield* gateway.accounts.readOrganization({ params })
  const remaining = Schema.decodeUnknownOption(PositiveAmount)(available)
  if (Option.isSome(remaining)) {
    yield* gateway.money.adjust({
      params,
      payload: {
        amount: remaining.value,
        kind: "withdrawal",
        reason: "trial of a channel",
        reference: `${name}, the rest`
      }
    })
  }
})

/**
 * The maximum length of a text in the report. Longer texts in an order are media, and are
 * shortened.
 */
const MAX_TEXT = 200
const shortenTexts = (value: unknown): unknown =>
  typeof value === "string" && value.length > MAX_TEXT
    ? `${value.slice(0, 40)}... (${value.length} characters)`
    : Array.isArray(value)
      ? value.map(shortenTexts)
      : Predicate.isObject(value)
        ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shortenTexts(one)]))
        : value

/** The gateway's error for an order that it refuses; an empty text for an accepted order. */
const refusalOf = <A, E>(order: Effect.Effect<A, E>): Effect.Effect<string> =>
  Effect.match(order, {
    onSuccess: () => "",
    onFailure: (error) => gatewayErrorText(error) ?? String(error)
  })

/** Places an order and reads its answer to the end. */
const orderText = ({ videos, images, texts, audio }: Orders, trial: TrialOrder) => {
  switch (trial.kind) {
    case "video":
      return refusalOf(videos.create({ payload: trial.body, headers: {} }))
    case "image":
      return refusalOf(
        images.generate({ payload: trial.body, headers: { prefer: "respond-async" } })
      )
    case "rerank":
      return refusalOf(texts.rerank({ payload: trial.body, headers: {} }))
    case "tts":
      return refusalOf(
        Effect.flatMap(audio.speech({ payload: trial.body, headers: {} }), (answer) =>
          Stream.isStream(answer) ? Stream.runDrain(answer) : Effect.void
        )
      )
    case "asr":
      return refusalOf(audio.transcribe({ payload: trial.body, headers: {} }))
  }
}

/** Places one order and finds its id. The order exists even where the vendor refused it. */
const placeTrialOrder = Effect.fnUntraced(function* (
  operator: Gateway,
  { organization, orders }: TrialAccount,
  trial: TrialOrder
) {
  const newest = Effect.map(
    operator.orderLists.listOrders({
      query: { organization_id: organization, limit: 1, totals: "false" }
    }),
    ({ data }) => data[0]?.id ?? null
  )
  const { form, body } = trial
  const previousId = yield* newest
  const says = yield* orderText(orders, trial)
  const id = yield* newest
  return { form, order: shortenTexts(body), id: id === previousId ? null : id, says }
})

type PlacedOrder = Effect.Success<ReturnType<typeof placeTrialOrder>>

/** Waits for the end of an order, then reads its upstream calls and its ledger entries. */
const awaitOrder = Effect.fnUntraced(function* (operator: Gateway, { id, ...one }: PlacedOrder) {
  if (id === null) return { ...one, id, state: "not ordered", calls: [], ledger: [] }
  const readTimeline = operator.history.readTask({ params: { id } })
  const timeline = yield* readTimeline.pipe(
    Effect.repeat({ until: ({ state }) => isFinal(state), schedule: Schedule.spaced(PAUSE) }),
    Effect.timeoutOrElse({ duration: PATIENCE, orElse: () => readTimeline })
  )
  const { state, error, channel, upstream_calls: calls, ledger } = timeline
  const says = one.says === "" ? (error?.message ?? "") : one.says
  return { ...one, id, state, channel, says, calls, ledger }
})

type TrialResult = Effect.Success<ReturnType<typeof awaitOrder>>

const chargeOf = ({ ledger }: Pick<TrialResult, "ledger">): string =>
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
    voice: url("voice", "Voice of spoken texts; without it the first one that the catalog lists"),
    output: Flag.File("output").pipe(
      Flag.withAlias("o"),
      Flag.withDescription("File for the report; channel-trial.json without"),
      Flag.withDefault("channel-trial.json")
    )
  },
  Effect.fn("cli.channelTry")(function* ({ channel, model, spend, output, ...mediaFlags }) {
    const [one, other] = yield* drawnImages
    const media: TrialMedia = {
      images: [
        Option.getOrElse(mediaFlags.image, () => one),
        Option.getOrElse(mediaFlags.secondImage, () => other)
      ],
      video: Option.getOrNull(mediaFlags.video),
      audio: Option.getOrNull(mediaFlags.audio),
      voice: Option.getOrNull(mediaFlags.voice)
    }
    const report = yield* asOperator(
      Effect.fnUntraced(function* (remote: Remote) {
        const { gateway } = remote
        const models = modelsOf(yield* gateway.admin.readCatalog(), channel, model)
        if (models.length === 0) {
          return yield* new CommandFailure({
            message: `No video, image, ranking or audio model's orders go to the channel ${channel} first${Option.match(model, { onNone: () => "", onSome: (id) => `, or not those of ${id}` })}`
          })
        }
        return yield* Effect.acquireUseRelease(
          openTrialAccount(remote, channel, spend),
          (account) =>
            Effect.gen(function* () {
              const results = yield* Effect.forEach(models, (model) =>
                Effect.gen(function* () {
                  const entry = yield* account.orders.models.read({ params: { id: model.model } })
                  // Orders are placed one after the other, because an order is found as the newest
                  // one of the organisation.
                  const all = yield* Effect.forEach(trialOrders(entry, media), (trial) =>
                    placeTrialOrder(gateway, account, trial)
                  )
                  const trials = yield* Effect.forEach(all, (one) => awaitOrder(gateway, one), {
                    concurrency: "unbounded"
                  })
                  return { ...model, trials }
                })
              )
              return { channel, organization: account.organization, models: results }
            }),
          (account) => Effect.orDie(closeTrialAccount(gateway, account))
        )
      })
    )
    const files = yield* FileSystem.FileSystem
    yield* Effect.mapError(
      files.writeFileString(output, `${JSON.stringify(report, null, 2)}\n`),
      failureOf(output)
    )
    const rows = report.models.flatMap(({ model, trials }) =>
      trials.map((trial) => [model, trial.form, trial.state, chargeOf(trial), trial.says])
    )
    yield* printResult(
      report,
      () =>
        `${table(["model", "form", "state", "charge", "message"], rows)}\n\nThe report is in ${output}.`
    )
    if (rows.some(([, , state]) => state !== "succeeded")) return yield* new ExitWith({ code: 1 })
  })
).pipe(
  Command.withDescription(
    "Order the smallest video, image, ranking, speech or transcription of each form from its vendor, within a bound of money, and write what was sent and what came; ends with 1 where one did not succeed"
  ),
  Command.withExamples([
    {
      command: "media-gateway channel try kling-main --model clip-1 --spend 5",
      description: "The report can be handed on: it holds no keys and no media"
    }
  ])
)
