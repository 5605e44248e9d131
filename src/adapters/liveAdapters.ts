/** The built-in adapters by protocol. */
import { Effect, Layer } from "effect"
import type { AudioProtocol } from "../domain/audio/AudioProtocol.ts"
import type { RerankProtocol, TextProtocol } from "../domain/catalog/ProtocolTables.ts"
import type { ImageProtocol } from "../domain/image/ImageProtocol.ts"
import { builtInDocuments } from "../domain/queue/builtInDocuments.ts"
import type { QueueDocument } from "../domain/queue/QueueDocument.ts"
import type { VideoProtocol } from "../domain/video/VideoProtocol.ts"
import { liveMap } from "../runtime/liveMap.ts"
import {
  type AudioAdapter,
  type ImageAdapter,
  ProtocolAdapter,
  type RerankAdapter,
  type TextAdapter,
  type VideoAdapter
} from "../services/ProtocolAdapter.ts"
import { byDocuments, StoredDocuments } from "../services/StoredDocuments.ts"
import { makeDashScope } from "./dashscope.ts"
import { makeElevenLabs } from "./elevenlabs.ts"
import { makeGemini } from "./gemini.ts"
import { makeIpA } from "./ip_a.ts"
import { makeIpB } from "./ip_b.ts"
import { makeIpC } from "./ip_c.ts"
import { makeJina } from "./jina.ts"
import { makeMiniMax } from "./minimax.ts"
import { makeOpenAi } from "./openai/openai.ts"
import { makeOpenAiAudio } from "./openai/openaiAudio.ts"
import { makeOpenAiResponses } from "./openai/openaiResponses.ts"
import { makeQueueAdapters } from "./queueAdapters.ts"
import { makeVeo } from "./veo.ts"
import { makeVpA } from "./vp_a.ts"
import { makeVpB } from "./vp_b.ts"
import { makeVpC } from "./vp_c/vp_c.ts"
import { makeVpD } from "./vp_d.ts"
import { makeVpE } from "./vp_e.ts"
import { makeVpF } from "./vp_f.ts"
import type { VendorWire } from "./wire/VendorWire.ts"

export const layerAdapters = Layer.effect(
  ProtocolAdapter,
  Effect.gen(function* () {
    // A protocol in the domain's tables without an adapter is a compile error.
    const video = {
      vp_a: yield* makeVpA,
      vp_b: yield* makeVpB,
      vp_c: yield* makeVpC,
      vp_d: yield* makeVpD,
      vp_e: yield* makeVpE,
      vp_f: yield* makeVpF,
      veo: yield* makeVeo,
      minimax: yield* makeMiniMax
    } satisfies Record<VideoProtocol, VideoAdapter>
    const image = {
      ip_a: yield* makeIpA,
      ip_b: yield* makeIpB,
      ip_c: yield* makeIpC,
      gemini: yield* makeGemini
    } satisfies Record<ImageProtocol, ImageAdapter>
    const text = {
      openai: yield* makeOpenAi,
      openai_responses: yield* makeOpenAiResponses
    } satisfies Record<TextProtocol, TextAdapter>
    const rerank = { jina: yield* makeJina } satisfies Record<RerankProtocol, RerankAdapter>
    const audio = {
      dashscope: yield* makeDashScope,
      openai: yield* makeOpenAiAudio,
      elevenlabs: yield* makeElevenLabs
    } satisfies Record<AudioProtocol, AudioAdapter>
    const calls = yield* Effect.context<VendorWire>()
    const makeAdapters = (documents: ReadonlyArray<QueueDocument>) =>
      Effect.runSyncWith(calls)(makeQueueAdapters(documents))
    const ofDocuments = makeAdapters(builtInDocuments)
    const videos = new Map<string, VideoAdapter>([...Object.entries(video), ...ofDocuments.video])
    const images = new Map<string, ImageAdapter>([...Object.entries(image), ...ofDocuments.image])
    const current = byDocuments(yield* StoredDocuments, (documents) => {
      const storedAdapters = makeAdapters(documents)
      return {
        video: new Map([...videos, ...storedAdapters.video]),
        image: new Map([...images, ...storedAdapters.image])
      }
    })
    return ProtocolAdapter.of({
      video: liveMap(() => current().video),
      image: liveMap(() => current().image),
      text: new Map(Object.entries(text)),
      rerank: new Map(Object.entries(rerank)),
      audio: new Map(Object.entries(audio))
    })
  })
)
