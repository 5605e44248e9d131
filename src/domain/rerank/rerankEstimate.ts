/** Estimates what a ranking is held for: its documents, and the tokens of query and documents. */
import type { Limits } from "../catalog/ModelLimits.ts"
import type { ExpectedWork } from "../money/workQuotes.ts"
import { mostInputOf, VENDOR_TOKENS, VENDOR_TOKENS_EACH } from "../text/textEstimate.ts"
import { bytesIn, bytesOf, fieldBytes } from "../text/textSize.ts"
import { leastTokensOf, tokensOfBytes } from "../text/tokenSize.ts"
import { documentText, type RerankBody } from "./RerankRequest.ts"

/** Fields whose bytes are counted by themselves, or that are settings and no text for the model. */
const countedFields: ReadonlySet<string> = new Set([
  "model",
  "query",
  "documents",
  "top_n",
  "return_documents"
])

/**
 * The tokens are those of the query and of every document, by size. Some vendors read the query
 * again with every document, so the most that a vendor can count has the query once for each.
 */
export const estimateRerank = (body: RerankBody, limits: Limits): ExpectedWork => {
  const queryBytes = bytesOf(body.query)
  const otherBytes = fieldBytes(body, (name) => countedFields.has(name))
  let documentTokens = 0n
  let documentBytes = 0
  let plainBytes = queryBytes
  for (const document of body.documents) {
    const bytes = bytesIn(document)
    documentTokens += tokensOfBytes(bytes)
    documentBytes += bytes
    plainBytes += bytesOf(documentText(document))
  }
  const documents = body.documents.length
  const inputTokens = tokensOfBytes(queryBytes) + documentTokens + tokensOfBytes(otherBytes)
  const mostTokens =
    VENDOR_TOKENS + documentBytes + documents * (queryBytes + otherBytes + VENDOR_TOKENS_EACH)
  return {
    inputTokens,
    leastInput: leastTokensOf(plainBytes),
    // The model's largest input is that of one document with the query.
    mostInput: mostInputOf(
      BigInt(mostTokens),
      inputTokens,
      BigInt(documents) * BigInt(limits.input_tokens)
    ),
    outputTokens: 0n,
    mostOutput: 0n,
    documents
  }
}
