/** Orders of videos. The vendor accepts them as tasks, and they are charged when the task ends. */
import { Array as Arr, Effect } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
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
import type { SourceVideo, UpstreamTask } from "../../services/TaskRepo.ts"
import type { OrderResolution } from "../OrderResolution.ts"
import { type OrderRun, type PaidOrder, unstreamedHooks } from "../orderValue.ts"

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
}

/**
 * The size of an order in the form of OpenAI's API; null for an order in the gateway's own form.
 */
const orderedSize = (input: VideoInput, wish: OpenaiOptions | null, sku: VideoSku) =>
  wish === null ? null : orderedSizeOf(input, wish, sku)

export const makeVideoOrder = Effect.fnUntraced(function* (
  resolve: OrderResolution,
  keyTurns: KeyTurns
) {
  const { hasArchive, submitDeadlineSeconds, taskDeadlineSeconds } = yield* Settings

  return Effect.fnUntraced(function* (
    caller: Caller,
    body: VideoBody,
    wish: OpenaiOptions | null = null
  ) {
    const { mounts, model, priceList, quote, input, files, source } = yield* Effect.mapError(
      resolve.video(caller, body, wish ?? undefined),
      (error) => (wish === null ? error : openaiErrorOf(error))
    )
    const [{ inputs, sku, generateAudio: sound }] = mounts
    const size = orderedSize(input, wish, sku)

    /** The texts that the vendor gets and may repeat in its messages. */
    const vendorTexts = ({ addresses }: OrderRun): ReadonlyArray<string> => [
      ...withAddresses(input.blocks, addresses).map((block) =>
        block.type === "text" ? block.text : block.url
      ),
      ...Object.values(input.parameters).filter((value) => typeof value === "string")
    ]

    const summary = {
      ...inputs,
      ...sku,
      ratio: input.ratio,
      sound,
      ...(size === null ? {} : { size }),
      ...(source === null ? {} : { source }),
      ...(mounts.every(({ isMarked }) => isMarked) ? { marked: true } : {})
    }
    const prompt = input.blocks.flatMap((block) => (block.type === "text" ? [block.text] : []))

    const order: PaidOrder<UpstreamTask, AcceptedVideo> = {
      ...unstreamedHooks,
      kind: "video",
      caller,
      model,
      priceList,
      mounts: Arr.map(
        mounts,
        ({ adapter, accounts, sku, parameters, blocks, generateAudio, isMarked: _, ...mount }) => ({
          ...mount,
          call: ({ id, addresses }) =>
            keyTurns.forOrder(accounts, (account) =>
              Effect.map(
                adapter.submit(account, {
                  ...input,
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
          state: "rejected",
          errorCode: error._tag,
          errorMessage: withoutEchoes(error.message, vendorTexts(run))
        })
      },
      storableRefusal: withoutMedia,
      redact: (message, run) => withoutEchoes(message, vendorTexts(run)),
      finish: (upstream, id) =>
        Effect.succeed({
          _tag: "Accept",
          upstream,
          answer: { id, kind: kindOf(model.id, quote), shape: { ratio: input.ratio, size, source } }
        }),
      chargeUnread: () => null
    }
    return order
  })
})
