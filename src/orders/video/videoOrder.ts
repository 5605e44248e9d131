/** A video as an order: the vendor accepts it as a task, which is charged when it ends. */

import { Array as Arr, Effect } from "effect"
import type { KeyTurns } from "../../channels/keyTurns.ts"
import type { UpstreamError } from "../../domain/Errors.ts"
import { withAddresses } from "../../domain/files/fileReferences.ts"
import { metadataOf } from "../../domain/money/metadata.ts"
import { inOpenaiWords, type OpenaiWish, sizeOrdered } from "../../domain/video/OpenaiVideoBody.ts"
import type { VideoBody } from "../../domain/video/VideoBody.ts"
import type { VideoQuote } from "../../domain/video/VideoQuote.ts"
import { withoutEchoes } from "../../redaction/promptsFromRecords.ts"
import { textDigest } from "../../redaction/textDigest.ts"
import { Settings } from "../../runtime/Settings.ts"
import type { Caller } from "../../services/Access.ts"
import type { UpstreamTask } from "../../services/TaskRepo.ts"
import type { OrderResolution } from "../OrderResolution.ts"
import type { GiveFiles } from "../orderFiles.ts"
import type { PaidOrder } from "../orderValue.ts"

export interface AcceptedVideo {
  readonly id: string
  /** Null where it was accepted before, for another request with its key. */
  readonly quote: VideoQuote | null
  /** What was ordered of its shape; null as the quote. */
  readonly shape: { readonly ratio: string | null; readonly size: string | null } | null
}

/** What it answers is done once the files that the order refers to are given. */
export const makeVideoOrder = (
  resolve: OrderResolution,
  keyTurns: KeyTurns,
  giveFiles: GiveFiles
) =>
  Effect.map(Settings, ({ hasArchive, submitDeadlineSeconds, taskDeadlineSeconds }) =>
    Effect.fnUntraced(function* (caller: Caller, body: VideoBody, wish: OpenaiWish | null = null) {
      const {
        mounts,
        model,
        quote,
        input: asked,
        files
      } = yield* Effect.mapError(resolve.video(caller, body, wish ?? undefined), (error) =>
        wish === null ? error : inOpenaiWords(error)
      )
      const [{ inputs, sku }] = mounts
      const size = wish === null ? null : sizeOrdered(asked, wish, sku)
      return Effect.map(giveFiles(caller, files), (addresses) => {
        const input = { ...asked, blocks: withAddresses(asked.blocks, addresses) }
        const texts = [
          ...input.blocks.map((block) => (block.type === "text" ? block.text : block.url)),
          ...Object.values(input.parameters).filter((value) => typeof value === "string")
        ]
        return {
          kind: "video",
          caller,
          model,
          mounts: Arr.map(mounts, ({ adapter, accounts, sku, parameters, ...mount }) => ({
            ...mount,
            call: (taskId) =>
              keyTurns.forOrder(accounts, (account) =>
                Effect.map(
                  adapter.submit(account, {
                    ...input,
                    parameters,
                    taskId,
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
          })),
          quote,
          metadata: metadataOf(body),
          promptDigest: textDigest(
            input.blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
          ),
          deadlineSeconds: taskDeadlineSeconds,
          task: {
            created: {
              listedProtocol: model.protocol,
              summary: {
                ...{ ...inputs, ...sku, ratio: input.ratio, sound: input.generateAudio },
                ...(size === null ? {} : { size }),
                ...(input.parameters.watermark === true ? { marked: true } : {})
              },
              dialect: wish === null ? "own" : "openai",
              submitSeconds: submitDeadlineSeconds,
              callbackUrl: body.callback_url ?? null,
              isArchived: hasArchive
            },
            // No client reads a rejected task's message: it is kept for the operator, without the prompt.
            rejected: (error: UpstreamError) => ({
              from: "submitting",
              state: "rejected",
              errorCode: error._tag,
              errorMessage: withoutEchoes(error.message, texts)
            })
          },
          finish: (upstream, id) =>
            Effect.succeed({
              _tag: "Accept",
              upstream,
              answer: { id, quote, shape: { ratio: input.ratio, size } }
            })
        } satisfies PaidOrder<UpstreamTask, AcceptedVideo>
      })
    })
  )
