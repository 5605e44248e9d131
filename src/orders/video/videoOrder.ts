/** Orders of videos. The vendor accepts them as tasks, and they are charged when the task ends. */
import { Array as Arr, Effect } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import { InvalidRequest } from "../../domain/Errors.ts"
import { withAddresses } from "../../domain/files/fileReferences.ts"
import { metadataOf } from "../../domain/money/metadata.ts"
import {
  type OpenaiOptions,
  openaiErrorOf,
  orderedSizeOf
} from "../../domain/video/OpenaiVideoBody.ts"
import type { VideoBody } from "../../domain/video/VideoBody.ts"
import type { VideoInput } from "../../domain/video/VideoInput.ts"
import { kindOf, type VideoKind } from "../../domain/video/VideoQuote.ts"
import type { VideoSku } from "../../domain/video/VideoSku.ts"
import { withoutEchoes, withoutMedia } from "../../redaction/promptsFromRecords.ts"
import { textDigest } from "../../redaction/textDigest.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { KeyedAccount } from "../../services/channels/ChannelCredentials.ts"
import type { SourceVideo, UpstreamTask } from "../../services/TaskRepo.ts"
import type { OrderResolution } from "../OrderResolution.ts"
import { type OrderRun, type PaidOrder, unstreamedHooks } from "../orderValue.ts"
import { encodeWaitingVideo } from "./waitingVideo.ts"

export interface AcceptedVideo {
  readonly id: string
  /**
   * The kind of the video, with the model's id; null for a replay, whose order was accepted for an
   * earlier request with the same key.
   */
  readonly kind: VideoKind | null
  /** The ordered shape, and the video that is edited or extended; null where the kind is null. */
  readonly shape: {
    readonly ratio: string | null
    readonly size: string | null
    readonly source: SourceVideo | null
  } | null
  /** Whether the order waits for a place at its channel; null for a replay. */
  readonly isWaiting: boolean | null
}

/**
 * The size of an order in the form of OpenAI's API; null for an order in the gateway's own form.
 */
const orderedSize = (input: VideoInput, wish: OpenaiOptions | null, sku: VideoSku) =>
  wish === null ? null : orderedSizeOf(input, wish, sku)

/**
 * Refuses an order with inline files that may wait: the stored order would have them, and no file is
 * stored in the database.
 */
const checkWait = ({ max_wait: maxWait }: VideoBody, { blocks }: VideoInput) =>
  (maxWait ?? 0) > 0 && blocks.some((block) => block.type !== "text" && /^data:/i.test(block.url))
    ? Effect.fail(
        new InvalidRequest({
          message:
            "max_wait: An order that may wait takes media by URL, or as files of POST /v1/files",
          param: "max_wait"
        })
      )
    : Effect.void

/** The accounts that may order: the one with the key, or all where no key or none of its name is. */
const accountsOf = (
  accounts: Arr.NonEmptyReadonlyArray<KeyedAccount>,
  keyName: string | null
): Arr.NonEmptyReadonlyArray<KeyedAccount> => {
  const own = accounts.filter((account) => account.keyName === keyName)
  return Arr.isReadonlyArrayNonEmpty(own) ? own : accounts
}

export type VideoOrders = Effect.Success<ReturnType<typeof makeVideoOrder>>

export const makeVideoOrder = Effect.fnUntraced(function* (
  resolve: OrderResolution,
  keyTurns: KeyTurns
) {
  const { hasArchive, submitDeadlineSeconds, taskDeadlineSeconds } = yield* Settings

  return Effect.fnUntraced(function* (
    caller: Caller,
    body: VideoBody,
    wish: OpenaiOptions | null = null,
    /** Whether the order has waited, so that its client has its id already. */
    hasWaited = false
  ) {
    const { mounts, model, priceList, quote, input, files, source } = yield* Effect.mapError(
      resolve.video(caller, body, wish ?? undefined),
      (error) => (wish === null ? error : openaiErrorOf(error))
    )
    yield* checkWait(body, input)
    const [{ inputs, sku, ratio, generateAudio: sound }] = mounts
    const size = orderedSize(input, wish, sku)

    /** The texts that the vendor gets and may repeat in its messages. */
    const vendorTexts = ({ addresses }: OrderRun): ReadonlyArray<string> => [
      ...withAddresses(input.blocks, addresses).map((block) =>
        block.type === "text" ? block.text : block.url
      ),
      ...Object.values(input.parameters)
        .flat()
        .filter((value) => typeof value === "string")
    ]

    const summary = {
      ...inputs,
      ...sku,
      ratio,
      sound,
      ...(size === null ? {} : { size }),
      ...(source === null ? {} : { source }),
      ...(mounts.every(({ isMarked }) => isMarked) ? { marked: true } : {})
    }
    const prompt = input.blocks.flatMap((block) => (block.type === "text" ? [block.text] : []))

    const acceptedAs = (id: string): AcceptedVideo => ({
      id,
      kind: kindOf(model.id, quote),
      shape: { ratio, size, source },
      isWaiting: false
    })

    const order: PaidOrder<UpstreamTask, AcceptedVideo> = {
      ...unstreamedHooks,
      wait:
        (body.max_wait ?? 0) === 0
          ? null
          : {
              maxSeconds: body.max_wait ?? 0,
              request: () => encodeWaitingVideo({ caller, body, options: wish, summary }),
              answer: (id) => ({ ...acceptedAs(id), isWaiting: true })
            },
      kind: "video",
      caller,
      model,
      priceList,
      mounts: Arr.map(
        mounts,
        ({
          adapter,
          accounts,
          sku,
          parameters,
          ratio: ratioOfMount,
          blocks,
          keyName,
          generateAudio,
          isMarked: _,
          ...mount
        }) => ({
          ...mount,
          call: ({ id, addresses }) =>
            keyTurns.forOrder(accountsOf(accounts, keyName), (account) =>
              Effect.map(
                adapter.submit(account, {
                  ...input,
                  ratio: ratioOfMount,
                  generateAudio,
                  blocks: withAddresses(blocks, addresses),
                  parameters,
                  taskId: id,
                  upstreamModel: mount.job.upstreamModel,
                  listedProtocol: model.protocol,
                  seconds: sku.seconds,
                  resolution: sku.resolution
                }),
                (upstreamId) => ({
                  upstreamId,
                  accountVersion: account.version,
                  keyName: account.keyName,
                  origin: account.origin
                })
              )
            )
        })
      ),
      quote,
      metadata: metadataOf(body),
      promptDigest: textDigest(prompt.join("\n")),
      deadlineSeconds: taskDeadlineSeconds,
      files,
      needsBytes: mounts.some(({ adapter }) => adapter.takesBytes === true),
      task: {
        created: {
          listedProtocol: model.protocol,
          summary,
          dialect: wish === null ? "own" : "openai",
          submitSeconds: submitDeadlineSeconds,
          callbackUrl: body.callback_url ?? null,
          isArchived: hasArchive
        },
        // No client reads the message of a rejected task: the message is stored for operators,
        // without the prompt.
        rejected: (error, run) => ({
          from: "submitting",
          state: hasWaited ? "failed" : "rejected",
          errorCode: error._tag,
          errorMessage: withoutEchoes(error.message, vendorTexts(run))
        }),
        cancelled: null
      },
      storableRefusal: withoutMedia,
      redact: (message, run) => withoutEchoes(message, vendorTexts(run)),
      finish: (upstream, id) =>
        Effect.succeed({
          _tag: "Accept",
          upstream,
          answer: acceptedAs(id)
        }),
      chargeUnread: () => null
    }
    return order
  })
})
