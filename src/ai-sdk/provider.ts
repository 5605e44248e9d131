/**
 * The gateway as a provider of the AI SDK: `import { mediaGateway } from "media-gateway/ai-sdk"`.
 * This module needs the packages `ai` and `@ai-sdk/openai-compatible`, and no other part of the
 * gateway.
 */
import {
  OpenAICompatibleChatLanguageModel,
  OpenAICompatibleEmbeddingModel
} from "@ai-sdk/openai-compatible"
import type {
  EmbeddingModelV4,
  ImageModelV4,
  LanguageModelV4,
  ProviderV4,
  RerankingModelV4,
  Experimental_StreamingSpeechModelV4 as StreamingSpeechModelV4,
  TranscriptionModelV4,
  Experimental_VideoModelV4 as VideoModelV4
} from "@ai-sdk/provider"
import { type MediaGatewaySettings, makeConnection, PROVIDER } from "./connection.ts"
import { errorStructure } from "./gatewayErrors.ts"
import { makeImageModel } from "./imageModel.ts"
import { type ListModelsOptions, type MediaGatewayModel, makeListModels } from "./models.ts"
import { makeRerankingModel } from "./rerankingModel.ts"
import { makeSpeechModel } from "./speechModel.ts"
import { makeTranscriptionModel } from "./transcriptionModel.ts"
import { makeVideoModel } from "./videoModel.ts"

export type { MediaGatewaySettings } from "./connection.ts"
export type { MediaGatewayErrorData } from "./gatewayErrors.ts"
export type { ListModelsOptions, MediaGatewayModel } from "./models.ts"

/**
 * Creates models by their id in `GET /v1/models`. Calling the provider as a function is the same as
 * calling `languageModel`.
 */
export interface MediaGatewayProvider extends ProviderV4 {
  (modelId: string): LanguageModelV4
  /** A model of modality `chat` or `vlm`. */
  languageModel(modelId: string): LanguageModelV4
  /** A model of modality `embedding`. */
  embeddingModel(modelId: string): EmbeddingModelV4
  /** The same as `embeddingModel`. */
  textEmbeddingModel(modelId: string): EmbeddingModelV4
  /** A model of modality `image`. */
  imageModel(modelId: string): ImageModelV4
  /** The same as `imageModel`. */
  image(modelId: string): ImageModelV4
  /** A model of modality `video`. */
  videoModel(modelId: string): VideoModelV4
  /** The same as `videoModel`. */
  video(modelId: string): VideoModelV4
  /** A model of modality `tts`. */
  speechModel(modelId: string): StreamingSpeechModelV4
  /** The same as `speechModel`. */
  speech(modelId: string): StreamingSpeechModelV4
  /** A model of modality `rerank`. */
  rerankingModel(modelId: string): RerankingModelV4
  /** The same as `rerankingModel`. */
  reranking(modelId: string): RerankingModelV4
  /** A model of modality `asr`. */
  transcriptionModel(modelId: string): TranscriptionModelV4
  /** The same as `transcriptionModel`. */
  transcription(modelId: string): TranscriptionModelV4
  /** The models that the key may order, with their limits and prices. */
  models(options?: ListModelsOptions): Promise<ReadonlyArray<MediaGatewayModel>>
}

/** The addresses that the AI SDK passes on unchanged: vendors load public images themselves. */
const supportedUrls = () => ({ "image/*": [/^https:\/\//] })

/**
 * Creates a provider for one gateway and one API key. If the address or the key is missing here and
 * in the environment, the first call of a model fails with a `LoadSettingError` or
 * `LoadAPIKeyError`.
 */
export const createMediaGateway = (settings: MediaGatewaySettings = {}): MediaGatewayProvider => {
  const connection = makeConnection(settings)
  const standard = (kind: string) => ({
    provider: `${PROVIDER}.${kind}`,
    url: ({ path }: { readonly path: string }) => connection.url(path),
    headers: connection.headers,
    fetch: connection.fetch,
    errorStructure
  })
  const languageModel = (modelId: string): LanguageModelV4 =>
    new OpenAICompatibleChatLanguageModel(modelId, {
      ...standard("chat"),
      includeUsage: true,
      // The gateway sends `response_format` to the vendor unchanged, so the vendor gets the schema.
      supportsStructuredOutputs: true,
      supportedUrls
    })
  const embeddingModel = (modelId: string): EmbeddingModelV4 =>
    new OpenAICompatibleEmbeddingModel(modelId, standard("embedding"))
  const imageModel = (modelId: string) => makeImageModel(connection, modelId)
  const videoModel = (modelId: string) => makeVideoModel(connection, modelId)
  const speechModel = (modelId: string) => makeSpeechModel(connection, modelId)
  const rerankingModel = (modelId: string) => makeRerankingModel(connection, modelId)
  const transcriptionModel = (modelId: string) => makeTranscriptionModel(connection, modelId)
  return Object.assign((modelId: string) => languageModel(modelId), {
    specificationVersion: "v4" as const,
    languageModel,
    embeddingModel,
    textEmbeddingModel: embeddingModel,
    imageModel,
    image: imageModel,
    videoModel,
    video: videoModel,
    speechModel,
    speech: speechModel,
    rerankingModel,
    reranking: rerankingModel,
    transcriptionModel,
    transcription: transcriptionModel,
    models: makeListModels(connection)
  })
}

/**
 * A provider for the gateway at `GATEWAY_URL` with the API key in `GATEWAY_KEY`, both read when a
 * model is used.
 */
export const mediaGateway: MediaGatewayProvider = createMediaGateway()
