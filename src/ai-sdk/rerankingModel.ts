/** Rankings of documents from `POST /v1/rerank`. */
import type {
  JSONObject,
  RerankingModelV4,
  RerankingModelV4CallOptions,
  SharedV4Warning
} from "@ai-sdk/provider"
import { combineHeaders, createJsonResponseHandler, postJsonToApi } from "@ai-sdk/provider-utils"
import { z } from "zod/v4"
import { type Connection, PROVIDER } from "./connection.ts"
import { failedResponseHandler } from "./gatewayErrors.ts"

const answerSchema = z.looseObject({
  id: z.string().nullish(),
  results: z.array(z.looseObject({ index: z.number(), relevance_score: z.number() }))
})

type Document = JSONObject | string

const hasText = ({ text }: JSONObject): boolean => typeof text === "string" && text !== ""

/**
 * The documents of an order. The gateway takes texts and objects with a `text`, so any other object
 * is sent as its JSON, with a warning.
 */
const documentsOf = (
  documents: RerankingModelV4CallOptions["documents"],
  warnings: Array<SharedV4Warning>
): Array<Document> => {
  // The AI SDK names the type of the first document, and others may differ from it.
  const values: ReadonlyArray<Document> = documents.values
  const isSent = (document: Document) => typeof document === "string" || hasText(document)
  if (values.every(isSent)) return [...values]
  warnings.push({
    type: "compatibility",
    feature: "object documents",
    details: "A document without a text in its field `text` is ranked as its JSON."
  })
  return values.map((document) => (isSent(document) ? document : JSON.stringify(document)))
}

const bodyOf = (
  modelId: string,
  { documents, query, topN, providerOptions }: RerankingModelV4CallOptions,
  warnings: Array<SharedV4Warning>
): JSONObject => ({
  query,
  documents: documentsOf(documents, warnings),
  top_n: topN,
  ...providerOptions?.[PROVIDER],
  model: modelId
})

export const makeRerankingModel = (connection: Connection, modelId: string): RerankingModelV4 => ({
  specificationVersion: "v4",
  provider: `${PROVIDER}.reranking`,
  modelId,
  doRerank: async (options) => {
    const warnings: Array<SharedV4Warning> = []
    const body = bodyOf(modelId, options, warnings)
    const timestamp = new Date()
    const {
      value: { id, results },
      rawValue,
      responseHeaders: headers
    } = await postJsonToApi({
      url: connection.url("/rerank"),
      headers: combineHeaders(connection.headers(), options.headers),
      fetch: connection.fetch,
      body,
      failedResponseHandler,
      successfulResponseHandler: createJsonResponseHandler(answerSchema),
      ...(options.abortSignal === undefined ? {} : { abortSignal: options.abortSignal })
    })
    return {
      ranking: results.map(({ index, relevance_score }) => ({
        index,
        relevanceScore: relevance_score
      })),
      warnings,
      response: {
        ...(typeof id === "string" ? { id } : {}),
        timestamp,
        modelId,
        ...(headers === undefined ? {} : { headers }),
        body: rawValue
      }
    }
  }
})
