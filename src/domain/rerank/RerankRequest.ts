/**
 * The request body of a ranking, in the form that Jina's and Cohere's APIs share. All fields are
 * forwarded; only those that the gateway relies on are checked.
 */
import { Predicate, Schema } from "effect"
import type { VendorParameters } from "../catalog/vendorParameters.ts"
import { MetadataField } from "../money/metadata.ts"
import { anyFields, fieldCheck, optionalBoolean, optionalWholeNumber } from "../requestFields.ts"
import { gatewayFieldsOf, unpricedTextWork } from "../unpricedWork.ts"

const MAX_DOCUMENTS = 10_000

const Document = Schema.Union([
  Schema.NonEmptyString,
  Schema.StructWithRest(
    Schema.Struct({
      text: Schema.NonEmptyString.annotate({ description: "The text of the document" })
    }),
    anyFields
  )
]).annotate({ expected: "a text, or an object with a text" })

const RerankFields = Schema.Struct({
  model: Schema.NonEmptyString.annotate({
    description: "Name of the model in the catalog",
    examples: ["rank-1"]
  }),
  query: Schema.NonEmptyString.annotate({
    description: "What the documents are compared with",
    examples: ["When is the harbour calm?"]
  }),
  documents: Schema.Array(Document)
    .check(
      Schema.isMinLength(1, { expected: "at least one document" }),
      Schema.isMaxLength(MAX_DOCUMENTS, { expected: `at most ${MAX_DOCUMENTS} documents` })
    )
    .annotate({
      description: "The documents, each a text or an object with a `text`",
      examples: [["The harbour is calm at dawn.", "Trains leave every hour."]]
    }),
  top_n: optionalWholeNumber("a whole number of documents", {
    minimum: 1,
    maximum: MAX_DOCUMENTS
  }).annotate({ description: "The most results; all documents when left out", examples: [1] }),
  return_documents: optionalBoolean.annotate({
    description: "Whether results contain their documents",
    examples: [false]
  }),
  metadata: MetadataField
})
const rerankFields = gatewayFieldsOf(Object.keys(RerankFields.fields), ["user"])

/** The body of `POST /v1/rerank`. Fields that are not listed belong to the vendor. */
export const RerankBody = Schema.StructWithRest(RerankFields, anyFields).check(
  fieldCheck((body: Readonly<Record<string, unknown>>) => unpricedTextWork(body, rerankFields))
)
export type RerankBody = typeof RerankFields.Type

/** The fields of a ranking that are not its texts, as clients are told of them. */
export const rerankParameters: VendorParameters = {
  top_n: {
    type: "integer",
    minimum: 1,
    maximum: MAX_DOCUMENTS,
    description: "The most results; all documents when left out"
  },
  return_documents: {
    type: "boolean",
    default: false,
    description: "Whether results contain their documents"
  }
}

/** The text of a document. */
export const documentText = (document: RerankBody["documents"][number]): string =>
  Predicate.isString(document) ? document : document.text
