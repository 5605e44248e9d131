/** The adapters of the protocols that documents describe. */
import { Effect } from "effect"
import { imageModelsOf, type QueueDocument, videoModelsOf } from "../domain/queue/QueueDocument.ts"
import type { ImageAdapter, VideoAdapter } from "../services/ProtocolAdapter.ts"
import { makeQueueImages } from "./queue/queueImages.ts"
import { makeQueueVideos } from "./queue/queueVideos.ts"

/** Builds the adapters by the name of their protocol, for the modalities of each document's models. */
export const makeQueueAdapters = Effect.fnUntraced(function* (
  documents: ReadonlyArray<QueueDocument>
) {
  const video = new Map<string, VideoAdapter>()
  const image = new Map<string, ImageAdapter>()
  for (const document of documents) {
    if (videoModelsOf(document).length > 0) {
      video.set(document.id, yield* makeQueueVideos(document))
    }
    if (imageModelsOf(document).length > 0) {
      image.set(document.id, yield* makeQueueImages(document))
    }
  }
  return { video, image }
})
