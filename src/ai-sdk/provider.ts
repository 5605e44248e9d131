/**
 * The gateway as a provider of the AI SDK: `import { mediaGateway } from "media-gateway/ai-sdk"`.
 * Needs the packages `ai` and `@ai-sdk/openai-compatible`, and nothing else of the gateway.
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
  Experimental_VideoModelV4 as VideoModelV4
} from "@ai-sdk/provider"
import { type MediaGatewaySettings, makeConnection, PROVIDER } from "./connection.ts"
import { errorStructure } from "./gatewayErrors.ts"
import { makeImageModel } from "./imageModel.ts"
import { makeVideoModel } from "./videoModel.ts"

export type { MediaGatewaySettings } from "./connection.ts"
export type { MediaGatewayErrorData } from "./gatewayErrors.ts"

/** A model's id is its name in `GET /v1/models`. Calling the provider is `languageModel`. */
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
}

/** Vendors load pictures from public addresses themselves. */
const supportedUrls = () => ({ "image/*": [/^https:\/\//] })

/**
 * A provider for one gateway and one key. Address and key that are missing here and in the environment
 * are a `LoadSettingError` or `LoadAPIKeyError` at the first call of a model.
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
      supportedUrls
    })
  const embeddingModel = (modelId: string): EmbeddingModelV4 =>
    new OpenAICompatibleEmbeddingModel(modelId, standard("embedding"))
  const imageModel = (modelId: string) => makeImageModel(connection, modelId)
  const videoModel = (modelId: string) => makeVideoModel(connection, modelId)
  return Object.assign((modelId: string) => languageModel(modelId), {
    specificationVersion: "v4" as const,
    languageModel,
    embeddingModel,
    textEmbeddingModel: embeddingModel,
    imageModel,
    image: imageModel,
    videoModel,
    video: videoModel
  })
}

/** The gateway at `GATEWAY_URL`, with the key in `GATEWAY_KEY`, read when a model is used. */
export const mediaGateway: MediaGatewayProvider = createMediaGateway()
