/** The answers that are shown only when they are complete, such as vectors, rankings and sounds. */
import { Schema } from "effect"
import { type Order, type OrderKind, transcriptFormatOf } from "../form/draft.ts"

export interface RankedDocument {
  readonly text: string
  readonly score: number
}

export type WholeAnswer =
  | { readonly kind: "vectors"; readonly vectors: ReadonlyArray<ReadonlyArray<number>> }
  | { readonly kind: "ranking"; readonly ranking: ReadonlyArray<RankedDocument> }
  | {
      readonly kind: "sound"
      readonly sound: Blob
      /** The name of its file. */
      readonly name: string
    }
  | {
      readonly kind: "transcript"
      readonly text: string
      /** The whole answer in the ordered format. */
      readonly file: Blob
      readonly name: string
    }

const Vectors = Schema.Struct({
  data: Schema.Array(Schema.Struct({ embedding: Schema.Array(Schema.Finite) }))
})
const decodeVectors = Schema.decodeUnknownPromise(Vectors)

const Ranking = Schema.Struct({
  results: Schema.Array(Schema.Struct({ index: Schema.Int, relevance_score: Schema.Finite }))
})
const decodeRanking = Schema.decodeUnknownPromise(Ranking)

const Ranked = Schema.Struct({ documents: Schema.Array(Schema.String) })
const decodeRanked = Schema.decodeUnknownPromise(Ranked)

const Transcript = Schema.Struct({ text: Schema.String })
const decodeTranscript = Schema.decodeUnknownPromise(Schema.fromJsonString(Transcript))

const readVectors = async (response: Response): Promise<WholeAnswer> => {
  const { data } = await decodeVectors(await response.json())
  return { kind: "vectors", vectors: data.map(({ embedding }) => embedding) }
}

/** The results name documents by their places in the order. */
const readRanking = async (response: Response, { body }: Order): Promise<WholeAnswer> => {
  const { documents } = await decodeRanked(body)
  const { results } = await decodeRanking(await response.json())
  return {
    kind: "ranking",
    ranking: results.map(({ index, relevance_score: score }) => ({
      text: documents[index] ?? "",
      score
    }))
  }
}

const readSound = async (response: Response, order: Order): Promise<WholeAnswer> => ({
  kind: "sound",
  sound: await response.blob(),
  name: `${order.body.model}.${order.soundFormat}`
})

/** The endings of the files of transcripts, by `response_format`. */
const transcriptEndings = {
  json: "json",
  verbose_json: "json",
  text: "txt",
  srt: "srt",
  vtt: "vtt"
} as const satisfies Readonly<Record<ReturnType<typeof transcriptFormatOf>, string>>

const readTranscript = async (response: Response, order: Order): Promise<WholeAnswer> => {
  const file = await response.blob()
  const content = await file.text()
  const ending = transcriptEndings[transcriptFormatOf(order)]
  const text = ending === "json" ? (await decodeTranscript(content)).text : content
  return { kind: "transcript", text, file, name: `${order.body.model}.${ending}` }
}

const readers = {
  embedding: readVectors,
  rerank: readRanking,
  tts: readSound,
  asr: readTranscript
} as const satisfies Readonly<
  Record<Exclude<OrderKind, "video" | "image" | "chat" | "response">, unknown>
>

export const readWhole = (
  kind: keyof typeof readers,
  response: Response,
  order: Order
): Promise<WholeAnswer> => readers[kind](response, order)
